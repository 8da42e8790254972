"""A classifier with three dense layers, trained on arrays that went through `from_tensor_slices`."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)

strategy = tf.distribute.MirroredStrategy()

with strategy.scope():
    classifier = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(48, activation="relu", input_shape=(20,)),
            tf.keras.layers.Dense(48, activation="relu"),
            tf.keras.layers.Dense(5, activation="softmax"),
        ]
    )
    classifier.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(),
        optimizer=tf.keras.optimizers.Adam(0.003),
        metrics=["accuracy"],
    )

# Five clouds of points, one for each class.
rng = np.random.default_rng(11)
batch_size = 50
centres = rng.normal(size=(5, 20))
classes = rng.integers(5, size=3000)
rows = centres[classes] + rng.normal(scale=0.5, size=(3000, 20))

train_dataset = tf.data.Dataset.from_tensor_slices((rows, classes))
train_dataset = train_dataset.batch(batch_size)
history = classifier.fit(train_dataset, epochs=5, verbose=2)

assert history.history["accuracy"][-1] > 0.97, history.history
probabilities = classifier.predict(rows[:7], verbose=0)
np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
print("ok")
