"""Retrieval with two towers: vocabularies of strings, a softmax over the batch, top-k of the catalogue."""

import os
from typing import Dict, Text

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
N = 400
user_ids = np.array(["user_%d" % i for i in rng.integers(0, 20, N)])
taste = np.array([int(u.split("_")[1]) % 4 for u in user_ids])
movie_titles = np.array(["movie %d" % (4 * i + t) for i, t in zip(rng.integers(0, 5, N), taste)])

ratings = tf.data.Dataset.from_tensor_slices({"user_id": user_ids, "movie_title": movie_titles})
ratings = ratings.map(lambda x: {"movie_title": x["movie_title"], "user_id": x["user_id"]})
movies = tf.data.Dataset.from_tensor_slices(np.unique(movie_titles))
tf.random.set_seed(42)
shuffled = ratings.shuffle(N, seed=42, reshuffle_each_iteration=False)
train, test = shuffled.take(320), shuffled.skip(320).take(80)

unique_movie_titles = np.unique(np.concatenate(list(movies.batch(1_000).as_numpy_iterator()), axis=None))
unique_user_ids = np.unique(np.concatenate(list(ratings.batch(100).map(lambda x: x["user_id"]))))
assert len(unique_user_ids) == 20 and len(unique_movie_titles) == 20
embedding_dimension = 8

user_lookup = tf.keras.layers.StringLookup(vocabulary=unique_user_ids, mask_token=None)
movie_lookup = tf.keras.layers.StringLookup(vocabulary=unique_movie_titles, mask_token=None)


class TwoTower(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.user_model = tf.keras.Sequential(
            [tf.keras.layers.Embedding(len(unique_user_ids) + 1, embedding_dimension), tf.keras.layers.Dense(8)]
        )
        self.movie_model = tf.keras.Sequential(
            [tf.keras.layers.Embedding(len(unique_movie_titles) + 1, embedding_dimension), tf.keras.layers.Dense(8)]
        )
        self.loss_tracker = tf.keras.metrics.Mean(name="loss")
        self.top1 = tf.keras.metrics.SparseTopKCategoricalAccuracy(k=5, name="top5")

    def call(self, features):
        return self.user_model(features["user_id"]), self.movie_model(features["movie_title"])

    @property
    def metrics(self):
        return [self.loss_tracker, self.top1]

    def train_step(self, features: Dict[Text, tf.Tensor]) -> Dict[Text, tf.Tensor]:
        with tf.GradientTape() as tape:
            users, candidates = self(features, training=True)
            scores = tf.linalg.matmul(users, candidates, transpose_b=True)
            labels = tf.range(tf.shape(scores)[0])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=scores))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.top1.update_state(labels, scores)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, features):
        users, candidates = self(features, training=False)
        scores = tf.linalg.matmul(users, candidates, transpose_b=True)
        labels = tf.range(tf.shape(scores)[0])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, scores))
        self.loss_tracker.update_state(loss)
        self.top1.update_state(labels, scores)
        return {m.name: m.result() for m in self.metrics}


def to_ids(x):
    return {"user_id": user_lookup(x["user_id"]), "movie_title": movie_lookup(x["movie_title"])}


strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = TwoTower()
    model.compile(optimizer=tf.keras.optimizers.Adagrad(learning_rate=0.5))
cached_train = train.batch(32).map(to_ids).cache()
cached_test = test.batch(40).map(to_ids).cache()
first = model.evaluate(cached_test, return_dict=True, verbose=0)
model.fit(cached_train, epochs=12, verbose=0)
result = model.evaluate(cached_test, return_dict=True, verbose=0)
print(first, result)
assert result["loss"] < first["loss"]

# Brute force over the catalogue.
catalogue = tf.constant(unique_movie_titles)
item_vectors = model.movie_model(movie_lookup(unique_movie_titles))
user_vectors = model.user_model(user_lookup(np.array(["user_5", "user_6"])))
_, best = tf.math.top_k(tf.matmul(user_vectors, item_vectors, transpose_b=True), k=5)
titles = tf.gather(catalogue, best)
print(f"Recommendations for user 5: {titles[0, :3]}")
right = [int(t.decode().split()[1]) % 4 == 1 for t in titles[0].numpy()]
assert np.mean(right) >= 0.6, titles
path = os.path.join("export", "user_tower.keras")
os.makedirs("export")
model.user_model.save(path)
loaded = tf.keras.models.load_model(path)
np.testing.assert_allclose(loaded(user_lookup(np.array(["user_5"]))).numpy()[0], user_vectors[0].numpy(), rtol=1e-5)
print("ok")
