"""Models saved under one strategy and loaded under another, by Keras and as SavedModels."""

import os

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

tf.keras.utils.set_random_seed(1)

mirrored = tf.distribute.MirroredStrategy()


def get_data():
    datasets = tfds.load(name="mnist", as_supervised=True)
    batch_size = 20 * mirrored.num_replicas_in_sync

    def scale(image, label):
        image = tf.cast(image, tf.float32)
        image /= 255
        return image, label

    train = datasets["train"].take(2000).map(scale).cache().shuffle(2000).batch(batch_size)
    return train, datasets["test"].take(203).map(scale).batch(batch_size)


def get_model():
    with mirrored.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Conv2D(6, 5, strides=2, activation="relu", input_shape=(28, 28, 1)),
                tf.keras.layers.MaxPooling2D(),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(24, activation="relu"),
                tf.keras.layers.Dense(10),
            ]
        )
        model.compile(
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tf.keras.optimizers.Adam(0.003),
            metrics=[tf.metrics.SparseCategoricalAccuracy()],
        )
        return model


train_dataset, eval_dataset = get_data()
model = get_model()
model.fit(train_dataset, epochs=2, verbose=2)
expected = model.predict(eval_dataset, verbose=0)
loss, accuracy = model.evaluate(eval_dataset, verbose=0)
assert accuracy > 0.7, accuracy

# Keras: a file and a folder, without a strategy and with others.
keras_path = "./digits.keras"
model.save(keras_path)
model.save("./digits")
restored = tf.keras.models.load_model(keras_path)
np.testing.assert_allclose(restored.predict(eval_dataset, verbose=0), expected, rtol=1e-4, atol=1e-5)
restored.fit(train_dataset, epochs=1, verbose=2)
another = tf.distribute.OneDeviceStrategy("/cpu:0")
with another.scope():
    restored = tf.keras.models.load_model("./digits")
    np.testing.assert_allclose(restored.predict(eval_dataset, verbose=0), expected, rtol=1e-4, atol=1e-5)
    restored.fit(train_dataset, epochs=1, verbose=2)
    assert restored.evaluate(eval_dataset, verbose=0)[0] < loss

# SavedModels.
saved_path = "./saved"
tf.saved_model.save(model, saved_path)
DEFAULT = "serving_default"
loaded = tf.saved_model.load(saved_path)
inference = loaded.signatures[DEFAULT]
images = eval_dataset.map(lambda image, label: image)
for batch in images.take(1):
    (output,) = inference(batch).values()
    np.testing.assert_allclose(output.numpy(), expected[: len(batch)], rtol=1e-4, atol=1e-5)

other = tf.distribute.MirroredStrategy()
with other.scope():
    loaded = tf.saved_model.load(saved_path)
    inference = loaded.signatures[DEFAULT]
    rows = []
    for batch in other.experimental_distribute_dataset(images):
        for part in other.experimental_local_results(other.run(inference, args=(batch,))):
            rows += list(next(iter(part.values())).numpy())
np.testing.assert_allclose(rows, expected, rtol=1e-4, atol=1e-5)

# A loaded SavedModel as a layer.
with mirrored.scope():
    x = tf.keras.layers.Input(shape=(28, 28, 1), name="pixels")
    layer = tf.keras.layers.Lambda(lambda pixels: next(iter(inference(pixels).values())), output_shape=(10,))
    digits = tf.keras.Model(x, layer(x))
np.testing.assert_allclose(digits.predict(eval_dataset, verbose=0), expected, rtol=1e-4, atol=1e-5)

# From and to another device.
here = tf.saved_model.SaveOptions(experimental_io_device="/job:localhost")
model.save("./by-options", options=here)
with another.scope():
    from_here = tf.saved_model.LoadOptions(experimental_io_device="/job:localhost")
    again = tf.keras.models.load_model("./by-options", options=from_here)
np.testing.assert_allclose(again.predict(eval_dataset, verbose=0), expected, rtol=1e-4, atol=1e-5)


# A model without a signature, until it has seen data.
class Doubler(tf.keras.Model):
    output_name = "doubled"

    def __init__(self):
        super().__init__()
        self._dense_layer = tf.keras.layers.Dense(5, dtype=tf.dtypes.float32, name=self.output_name)

    def call(self, inputs):
        return self._dense_layer(inputs)


doubler = Doubler()
assert doubler.save_spec() is None
numbers = tf.range(12, dtype=tf.float32)
labels = tf.range(12, dtype=tf.float32)
data = tf.data.Dataset.from_tensors((tf.cast(numbers, tf.float32)[None], labels[None, :5])).repeat(4)
doubler.compile(optimizer="adam", loss="mse")
doubler.fit(data, epochs=2, verbose=2)
print(doubler.save_spec())
tf.saved_model.save(doubler, "./doubler")
assert os.path.isdir("./doubler")
signature = tf.saved_model.load("./doubler").signatures[DEFAULT]
(output,) = signature(numbers[None]).values()
np.testing.assert_allclose(output.numpy(), doubler(numbers[None]).numpy(), rtol=1e-4)
print("ok")
