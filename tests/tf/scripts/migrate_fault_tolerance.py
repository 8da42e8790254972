"""From hooks of sessions to BackupAndRestore, and checkpoints by hand."""

import os
import tempfile

import numpy as np
import tensorflow as tf
import tensorflow.compat.v1 as tf1

tf.keras.utils.set_random_seed(1)

mnist = tf.keras.datasets.mnist
(x_train, y_train), (x_test, y_test) = mnist.load_data()
x_train, y_train = x_train[:2000].astype("float32") / 255.0, y_train[:2000]

try:
    tf1.train.SessionRunHook
except AttributeError as error:
    assert "keras" in str(error).lower(), error
else:
    raise AssertionError("SessionRunHook")


def create_model():
    return tf.keras.models.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(28, 28)),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dropout(0.1),
            tf.keras.layers.Dense(10),
        ]
    )


loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)


class InterruptAtEpoch(tf.keras.callbacks.Callback):
    def __init__(self, interrupting_epoch=2):
        self.interrupting_epoch = interrupting_epoch

    def on_epoch_end(self, epoch, log=None):
        if epoch == self.interrupting_epoch:
            raise RuntimeError("interrupted")


class InterruptAtStep(tf.keras.callbacks.Callback):
    def __init__(self, interrupting_step):
        self.total_step_count = 0
        self.interrupting_step = interrupting_step

    def on_batch_end(self, batch, logs=None):
        self.total_step_count += 1
        if self.total_step_count == self.interrupting_step:
            raise RuntimeError("interrupted")


class Epochs(tf.keras.callbacks.Callback):
    def __init__(self):
        self.begun = []

    def on_epoch_begin(self, epoch, logs=None):
        self.begun.append(epoch)


def trained_again(interruption, **options):
    """Trains until the interruption, and then to the end with what was kept; returns the epochs of the second time."""
    model = create_model()
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"], steps_per_execution=5)
    folder = tempfile.mkdtemp(dir=".")
    backup = tf.keras.callbacks.BackupAndRestore(backup_dir=folder, **options)
    try:
        model.fit(x=x_train, y=y_train, epochs=4, batch_size=100, callbacks=[backup, interruption], verbose=2)
    except RuntimeError as error:
        assert "interrupted" in str(error)
    else:
        raise AssertionError("it was not interrupted")
    seen = Epochs()
    model = create_model()
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"], steps_per_execution=5)
    backup = tf.keras.callbacks.BackupAndRestore(backup_dir=folder, **options)
    history = model.fit(x=x_train, y=y_train, epochs=4, batch_size=100, callbacks=[backup, seen], verbose=2)
    assert model.optimizer.iterations.numpy() == 4 * 20, model.optimizer.iterations.numpy()
    assert history.history["accuracy"][-1] > 0.7, history.history
    return seen.begun


assert trained_again(InterruptAtEpoch()) in ([2, 3], [3])
assert trained_again(InterruptAtStep(6), save_freq=10)[0] in (0, 1)

# By hand.
model = create_model()
optimizer = tf.keras.optimizers.SGD(learning_rate=0.1)
per_batch = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, os.path.join(tempfile.mkdtemp(dir="."), "by-hand"), max_to_keep=2)
for step in range(12):
    with tf.GradientTape() as tape:
        value = per_batch(y_train[:64], model(x_train[:64], training=True))
    grads = tape.gradient(value, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    if step % 4 == 3:
        manager.save()
assert len(manager.checkpoints) == 2
reader = tf.train.load_checkpoint(manager.latest_checkpoint)
assert any(
    shape == [784, 32] and np.array_equal(reader.get_tensor(name), model.layers[1].kernel.numpy())
    for name, shape in reader.get_variable_to_shape_map().items()
)
print("ok")
