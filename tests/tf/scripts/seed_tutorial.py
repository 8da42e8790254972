"""A small CNN on MNIST with the four callbacks of the tutorial, and back to the newest checkpoint."""

from __future__ import absolute_import, division, print_function, unicode_literals

import os
import warnings

import tensorflow as tf
import tensorflow_datasets as tfds

tf.keras.utils.set_random_seed(1)

warnings.simplefilter("ignore")
tfds.disable_progress_bar()

datasets, info = tfds.load(name="mnist", with_info=True, as_supervised=True)
digits_train, digits_test = datasets["train"], datasets["test"]
num_train = info.splits["train"].num_examples
assert (num_train, info.splits["test"].num_examples) == (60000, 10000)
assert info.splits.total_num_examples == 70000

strategy = tf.distribute.MirroredStrategy()
print("devices: {}".format(strategy.num_replicas_in_sync))
batch_size = 64 * strategy.num_replicas_in_sync


def to_unit(image, label):
    image = tf.cast(image, tf.float32)
    image /= 255
    return image, label


train_dataset = digits_train.map(to_unit).shuffle(10000).batch(batch_size)
eval_dataset = digits_test.map(to_unit).batch(batch_size)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(12, 5, strides=2, activation="relu", input_shape=(28, 28, 1)),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(48, activation="relu"),
            tf.keras.layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile(loss="sparse_categorical_crossentropy", optimizer=tf.keras.optimizers.Adam(), metrics=["accuracy"])

checkpoint_dir = "./kept"
checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt_{epoch}")
rates = []


def slower(epoch):
    if epoch < 1:
        return 4e-3
    else:
        return 2e-3


class PrintLR(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        rates.append(model.optimizer.lr.numpy())
        print("\nepoch {} had the learning rate {}".format(epoch + 1, rates[-1]))


callbacks = [
    tf.keras.callbacks.TensorBoard(log_dir="./logs"),
    tf.keras.callbacks.ModelCheckpoint(filepath=checkpoint_prefix, save_weights_only=True),
    tf.keras.callbacks.LearningRateScheduler(slower),
    PrintLR(),
]
model.fit(train_dataset, epochs=2, callbacks=callbacks, verbose=2)

assert [round(float(rate), 6) for rate in rates] == [4e-3, 2e-3], rates
assert os.listdir("./logs") and any(name.startswith("ckpt_2") for name in os.listdir(checkpoint_dir))

weights = [each.numpy() for each in model.weights]
model.set_weights([0 * each for each in weights])
model.load_weights(tf.train.latest_checkpoint(checkpoint_dir))
assert all((each.numpy() == old).all() for each, old in zip(model.weights, weights))

eval_loss, eval_acc = model.evaluate(eval_dataset, verbose=2)
print("loss: {}, accuracy: {}".format(eval_loss, eval_acc))
assert eval_acc >= 0.96, eval_acc
print("ok")
