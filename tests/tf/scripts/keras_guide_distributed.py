"""Stock Keras under a mirrored strategy, with a file for each epoch, from which the next training continues."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


def get_compiled_model():
    inputs = keras.Input(shape=(784,))
    x = keras.layers.Dense(48, activation="tanh")(inputs)
    x = keras.layers.Dense(24, activation="relu")(x)
    outputs = keras.layers.Dense(10)(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer=keras.optimizers.Adam(0.003),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy()],
    )
    return model


def get_dataset(batch_size=32):
    (x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
    x_train = x_train[:5000].reshape(-1, 784).astype("float32") / 255
    x_test = x_test[:1000].reshape(-1, 784).astype("float32") / 255
    y_train, y_test = y_train[:5000].astype("float32"), y_test[:1000].astype("float32")
    return (
        tf.data.Dataset.from_tensor_slices((x_train[:4000], y_train[:4000])).batch(batch_size),
        tf.data.Dataset.from_tensor_slices((x_train[4000:], y_train[4000:])).batch(batch_size),
        tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(batch_size),
    )


strategy = tf.distribute.MirroredStrategy()
print("Replicas: {}".format(strategy.num_replicas_in_sync))
with strategy.scope():
    model = get_compiled_model()
    train_dataset, val_dataset, test_dataset = get_dataset()
    model.fit(train_dataset, epochs=2, validation_data=val_dataset, verbose=2)
    loss, accuracy = model.evaluate(test_dataset, verbose=2)
assert accuracy > 0.85, accuracy

folder = "./kept"
if not os.path.exists(folder):
    os.makedirs(folder)


def make_or_restore_model():
    files = [folder + "/" + name for name in os.listdir(folder)]
    if files:
        return keras.models.load_model(max(files, key=os.path.getctime))
    return get_compiled_model()


def run_training(epochs=1):
    with tf.distribute.MirroredStrategy().scope():
        model = make_or_restore_model()
        callbacks = [keras.callbacks.ModelCheckpoint(filepath=folder + "/kept-{epoch}.keras", save_freq="epoch")]
        model.fit(train_dataset, epochs=epochs, callbacks=callbacks, validation_data=val_dataset, verbose=2)
        return model.optimizer.iterations.numpy()


assert run_training(epochs=1) == 125
assert run_training(epochs=1) == 250
print("ok")
