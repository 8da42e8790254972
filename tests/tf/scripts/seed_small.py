"""A small net on random numbers: `add`, `input_shape`, `summary`, one epoch of a dataset."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(1)

rng = np.random.default_rng(3)

strategy = tf.distribute.MirroredStrategy()

with strategy.scope():
    model = tf.keras.Sequential()
    model.add(layers.Dense(12, activation="relu", input_shape=(6,)))
    model.add(layers.Dense(1, activation="sigmoid"))
    optimizer = tf.keras.optimizers.SGD(0.5)
    model.compile(loss="binary_crossentropy", optimizer=optimizer)

model.summary()
assert model.count_params() == 6 * 12 + 12 + 12 + 1

points = rng.random((2048, 6))
marks = (points.sum(axis=1, keepdims=True) > 3).astype(int)
points = tf.cast(points, tf.float32)
dataset = tf.data.Dataset.from_tensor_slices((points, marks))
dataset = dataset.shuffle(buffer_size=2048).batch(32)

before = model.evaluate(dataset, verbose=0)
history = model.fit(dataset, epochs=2)
after = model.evaluate(dataset, verbose=0)
assert after < before, (before, after)
assert len(history.history["loss"]) == 2
print("ok")
