"""A functional model of stock Keras on MNIST, two epochs; then training that continues from its last file."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


def compiled_model():
    pixels = keras.Input(shape=(784,))
    hidden = keras.layers.Dense(192, activation="relu")(pixels)
    hidden = keras.layers.Dense(96, activation="relu")(hidden)
    digits = keras.layers.Dense(10)(hidden)
    net = keras.Model(pixels, digits)
    net.compile(
        optimizer=keras.optimizers.Adam(),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy()],
    )
    return net


def three_datasets(batch_size=64, num_val=5000):
    (x, y), (x_test, y_test) = keras.datasets.mnist.load_data()
    x, x_test = (part.reshape(-1, 784).astype("float32") / 255 for part in (x, x_test))
    y, y_test = y.astype("float32"), y_test.astype("float32")
    return (
        tf.data.Dataset.from_tensor_slices((x[:-num_val], y[:-num_val])).batch(batch_size),
        tf.data.Dataset.from_tensor_slices((x[-num_val:], y[-num_val:])).batch(batch_size),
        tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(batch_size),
    )


strategy = tf.distribute.MirroredStrategy()
print("Replicas: {}".format(strategy.num_replicas_in_sync))

with strategy.scope():
    model = compiled_model()
    train_dataset, val_dataset, test_dataset = three_datasets()
    model.fit(train_dataset, epochs=2, validation_data=val_dataset, verbose=2)
    loss, accuracy = model.evaluate(test_dataset, verbose=2)
assert accuracy >= 0.96, accuracy

folder = "./kept"
if not os.path.exists(folder):
    os.makedirs(folder)


def make_or_restore_model():
    files = [folder + "/" + name for name in os.listdir(folder)]
    if files:
        newest = max(files, key=os.path.getctime)
        print("continuing from", newest)
        return keras.models.load_model(newest)
    print("from the beginning")
    return compiled_model()


def train_for(epochs):
    with tf.distribute.MirroredStrategy().scope():
        net = make_or_restore_model()
        kept = keras.callbacks.ModelCheckpoint(filepath=folder + "/at-{epoch}.keras", save_freq="epoch")
        return net.fit(
            train_dataset.take(200), epochs=epochs, callbacks=[kept], validation_data=val_dataset.take(20), verbose=2
        )


first = train_for(epochs=1).history
assert os.listdir(folder) == ["at-1.keras"]
second = train_for(epochs=1).history
assert second["loss"][0] < first["loss"][0] / 1.5, (first, second)
print("ok")
