"""`fit` under a strategy with callbacks; the model is saved, and loaded without a strategy and with one."""

import os
import pathlib

import tensorflow as tf
import tensorflow_datasets as tfds

tf.keras.utils.set_random_seed(1)

print(tf.__version__)

datasets, info = tfds.load(name="mnist", with_info=True, as_supervised=True)
digits_train, digits_test = datasets["train"].take(6000), datasets["test"].take(1000)
strategy = tf.distribute.MirroredStrategy()
print("Replicas: {}".format(strategy.num_replicas_in_sync))

BATCH_SIZE = 25 * strategy.num_replicas_in_sync


def scale(image, label):
    image = tf.cast(image, tf.float32)
    image /= 255
    return image, label


train_dataset = digits_train.map(scale).cache().shuffle(3000).batch(BATCH_SIZE)
eval_dataset = digits_test.map(scale).batch(BATCH_SIZE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(6, 5, activation="relu", input_shape=(28, 28, 1)),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    model.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.Adam(learning_rate=0.001),
        metrics=["accuracy"],
    )

checkpoint_dir = "./kept"
checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt_{epoch}.weights.h5")


def decay(epoch):
    if epoch < 2:
        return 3e-3
    elif epoch >= 2 and epoch < 5:
        return 1e-3
    else:
        return 1e-4


class PrintLR(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print("\nepoch {}: {}".format(epoch + 1, model.optimizer.learning_rate.numpy()))


callbacks = [
    tf.keras.callbacks.TensorBoard(log_dir="./logs"),
    tf.keras.callbacks.ModelCheckpoint(filepath=checkpoint_prefix, save_weights_only=True),
    tf.keras.callbacks.LearningRateScheduler(decay),
    PrintLR(),
]
model.fit(train_dataset, epochs=3, callbacks=callbacks, verbose=2)
assert abs(model.optimizer.learning_rate.numpy() - 1e-3) < 1e-8

files = sorted(pathlib.Path(checkpoint_dir).glob("ckpt_*.h5"))
assert len(files) == 3, files
model.load_weights(files[-1])
eval_loss, eval_acc = model.evaluate(eval_dataset, verbose=0)
print("Loss: {}, accuracy: {}".format(eval_loss, eval_acc))
assert eval_acc > 0.88, eval_acc

path = "digits.keras"
model.save(path)


def evaluated(loaded):
    loaded.compile(
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=tf.keras.optimizers.Adam(),
        metrics=["accuracy"],
    )
    return loaded.evaluate(eval_dataset, verbose=0)


unreplicated = evaluated(tf.keras.models.load_model(path))
with strategy.scope():
    replicated = evaluated(tf.keras.models.load_model(path))
for loss, accuracy in (unreplicated, replicated):
    assert abs(loss - eval_loss) < 1e-4 and abs(accuracy - eval_acc) < 1e-6
print("ok")
