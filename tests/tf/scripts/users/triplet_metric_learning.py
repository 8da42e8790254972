"""Metric learning with triplets: a distance layer, a model around it, semi-hard mining in a loss function."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Model, layers, metrics, optimizers

tf.keras.utils.set_random_seed(1)
rng = np.random.RandomState(0)
centers = rng.randn(5, 10).astype("float32")


def make_triplets(n):
    a = rng.randint(0, 5, n)
    b = (a + rng.randint(1, 5, n)) % 5
    noise = lambda: 0.4 * rng.randn(n, 10).astype("float32")  # noqa: E731
    return centers[a] + noise(), centers[a] + noise(), centers[b] + noise()


class DistanceLayer(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def call(self, anchor, positive, negative):
        ap_distance = tf.reduce_sum(tf.square(anchor - positive), -1)
        an_distance = tf.reduce_sum(tf.square(anchor - negative), -1)
        return (ap_distance, an_distance)


def make_network():
    embedding = tf.keras.Sequential(
        [layers.Input((10,)), layers.Dense(16, activation="relu"), layers.BatchNormalization(), layers.Dense(8)],
        name="Embedding",
    )
    anchor_input = layers.Input(name="anchor", shape=(10,))
    positive_input = layers.Input(name="positive", shape=(10,))
    negative_input = layers.Input(name="negative", shape=(10,))
    distances = DistanceLayer()(embedding(anchor_input), embedding(positive_input), embedding(negative_input))
    return embedding, Model(inputs=[anchor_input, positive_input, negative_input], outputs=distances)


class SiameseModel(Model):
    def __init__(self, siamese_network, margin=0.5):
        super().__init__()
        self.siamese_network = siamese_network
        self.margin = margin
        self.loss_tracker = metrics.Mean(name="loss")

    def call(self, inputs):
        return self.siamese_network(inputs)

    def train_step(self, data):
        with tf.GradientTape() as tape:
            loss = self._compute_loss(data)
        gradients = tape.gradient(loss, self.siamese_network.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.siamese_network.trainable_weights))
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, data):
        loss = self._compute_loss(data)
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def _compute_loss(self, data):
        ap_distance, an_distance = self.siamese_network(data)
        loss = ap_distance - an_distance
        return tf.maximum(loss + self.margin, 0.0)

    @property
    def metrics(self):
        return [self.loss_tracker]


anchors, positives, negatives = make_triplets(256)
dataset = tf.data.Dataset.zip(
    tuple(tf.data.Dataset.from_tensor_slices(part) for part in (anchors, positives, negatives))
)
dataset = dataset.shuffle(buffer_size=1024)
train_dataset = dataset.take(round(256 * 0.75)).batch(32, drop_remainder=False).prefetch(8)
val_dataset = dataset.skip(round(256 * 0.75)).batch(32, drop_remainder=False).prefetch(8)

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    embedding, network = make_network()
    siamese_model = SiameseModel(network)
    siamese_model.compile(optimizer=optimizers.Adam(0.003), weighted_metrics=[])
history = siamese_model.fit(train_dataset, epochs=6, validation_data=val_dataset, verbose=2)
assert history.history["val_loss"][-1] < history.history["val_loss"][0]

sample = next(iter(train_dataset))
anchor_embedding, positive_embedding, negative_embedding = [embedding(part) for part in sample]
cosine_similarity = metrics.CosineSimilarity()
positive_similarity = cosine_similarity(anchor_embedding, positive_embedding)
print("Positive similarity:", positive_similarity.numpy())
cosine_similarity.reset_state()
negative_similarity = cosine_similarity(anchor_embedding, negative_embedding)
print("Negative similarity", negative_similarity.numpy())
assert positive_similarity > negative_similarity


# Triplets inside a batch, as tensorflow_addons had it.
def pairwise_distances(x):
    dot = tf.matmul(x, tf.transpose(x))
    square_norm = tf.linalg.diag_part(dot)
    d = tf.expand_dims(square_norm, 0) - 2.0 * dot + tf.expand_dims(square_norm, 1)
    d = tf.maximum(d, 0.0)
    mask = tf.cast(tf.equal(d, 0.0), tf.float32)
    return tf.sqrt(d + mask * 1e-16) * (1.0 - mask)


def batch_hard_triplet_loss(y_true, y_pred):
    labels = tf.reshape(y_true, [-1])
    d = pairwise_distances(y_pred)
    same = tf.cast(tf.equal(tf.expand_dims(labels, 0), tf.expand_dims(labels, 1)), tf.float32)
    hardest_positive = tf.reduce_max(d * (same - tf.linalg.diag(tf.ones_like(labels, dtype=tf.float32))), axis=1)
    max_d = tf.reduce_max(d, axis=1, keepdims=True)
    hardest_negative = tf.reduce_min(d + max_d * same, axis=1)
    return tf.maximum(hardest_positive - hardest_negative + 0.5, 0.0)


y = rng.randint(0, 5, 320).astype("float32")
x = centers[y.astype(int)] + 0.4 * rng.randn(320, 10).astype("float32")
with strategy.scope():
    encoder = tf.keras.Sequential(
        [layers.Dense(16, activation="relu"), layers.Dense(8), layers.UnitNormalization(axis=1)]
    )
    encoder.compile(optimizer="adam", loss=batch_hard_triplet_loss)
loss = encoder.fit(x, y, batch_size=32, epochs=5, verbose=0).history["loss"]
print(loss)
assert loss[-1] < loss[0]
print("ok")
