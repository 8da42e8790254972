"""Images and their paths from two TFRecord files, two unlike classes, on TPUs."""

import os

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
import tensorflow as tf
from keras import layers

tf.keras.utils.set_random_seed(1)

try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    print("Device:", tpu.master())
    strategy = tf.distribute.TPUStrategy(tpu)
except ValueError:
    strategy = tf.distribute.get_strategy()
print("Replicas:", strategy.num_replicas_in_sync)

AUTOTUNE = tf.data.AUTOTUNE
BATCH_SIZE = 5 * strategy.num_replicas_in_sync
IMAGE_SIZE = [32, 32]
CLASS_NAMES = ["STRIPES", "DOTS"]

# The files: three of four images have stripes.
rng = np.random.default_rng(8)


def picture(kind):
    image = rng.integers(0, 40, (24, 30, 3))
    if kind == "STRIPES":
        image[::4] += 180
    else:
        image[rng.integers(0, 24, 50), rng.integers(0, 30, 50)] += 180
    return tf.image.encode_jpeg(tf.constant(image, tf.uint8)).numpy()


with tf.io.TFRecordWriter("images.tfrec") as images, tf.io.TFRecordWriter("paths.tfrec") as paths:
    for number in range(240):
        kind = "DOTS" if number % 4 == 3 else "STRIPES"
        images.write(picture(kind))
        paths.write(f"pictures/{kind}/{number}.jpg".encode())

train_images = tf.data.TFRecordDataset("images.tfrec")
train_paths = tf.data.TFRecordDataset("paths.tfrec")
ds = tf.data.Dataset.zip((train_images, train_paths))

count_stripes = len([path for path in train_paths if "STRIPES" in path.numpy().decode("utf-8")])
count_dots = len([path for path in train_paths if "DOTS" in path.numpy().decode("utf-8")])
assert (count_stripes, count_dots) == (180, 60)


def get_label(file_path):
    parts = tf.strings.split(file_path, "/")
    return parts[-2] == "DOTS"


def decode_img(img):
    img = tf.image.decode_jpeg(img, channels=3)
    return tf.image.resize(img, IMAGE_SIZE)


def process_path(image, path):
    return decode_img(image), get_label(path)


ds = ds.map(process_path, num_parallel_calls=AUTOTUNE)
ds = ds.shuffle(240, reshuffle_each_iteration=False)
train_ds = ds.take(200)
val_ds = ds.skip(200)

for image, label in train_ds.take(1):
    print("Image shape: ", image.numpy().shape)
    print("Label: ", label.numpy())
    assert image.numpy().shape == (32, 32, 3) and label.numpy() in (True, False)


def prepare_for_training(ds, cache=True):
    if cache:
        ds = ds.cache(cache) if isinstance(cache, str) else ds.cache()
    return ds.batch(BATCH_SIZE).prefetch(buffer_size=AUTOTUNE)


train_ds = prepare_for_training(train_ds)
val_ds = prepare_for_training(val_ds, "./kept-images")
image_batch, label_batch = next(iter(train_ds))
print([CLASS_NAMES[int(label)] for label in label_batch.numpy()])
assert image_batch.numpy().shape == (BATCH_SIZE, 32, 32, 3)


def conv_block(filters, inputs):
    x = layers.SeparableConv2D(filters, 3, activation="relu", padding="same")(inputs)
    x = layers.BatchNormalization()(x)
    return layers.MaxPool2D()(x)


def build_model():
    inputs = keras.Input(shape=(IMAGE_SIZE[0], IMAGE_SIZE[1], 3))
    x = layers.Rescaling(1.0 / 255)(inputs)
    x = layers.Conv2D(6, 3, activation="relu", padding="same")(x)
    x = layers.MaxPool2D()(x)
    x = conv_block(8, x)
    x = layers.Dropout(0.1)(x)
    x = layers.Flatten()(x)
    x = layers.Dense(16, activation="relu")(x)
    outputs = layers.Dense(1, activation="sigmoid")(x)
    return keras.Model(inputs=inputs, outputs=outputs)


class_weight = {0: 240 / count_stripes / 2, 1: 240 / count_dots / 2}
lr_schedule = keras.optimizers.schedules.ExponentialDecay(0.02, decay_steps=200, decay_rate=0.9, staircase=True)
with strategy.scope():
    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(learning_rate=lr_schedule),
        loss="binary_crossentropy",
        metrics=[
            keras.metrics.BinaryAccuracy(),
            keras.metrics.Precision(name="precision"),
            keras.metrics.Recall(name="recall"),
        ],
    )

history = model.fit(
    train_ds,
    epochs=6,
    validation_data=val_ds,
    class_weight=class_weight,
    callbacks=[
        keras.callbacks.ModelCheckpoint("pictures.keras", save_best_only=True),
        keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True),
    ],
    verbose=2,
)
assert {"precision", "val_recall"} <= set(history.history)
loss, accuracy, precision, recall = model.evaluate(val_ds, verbose=0)
print(f"accuracy {accuracy:.2f}, precision {precision:.2f}, recall {recall:.2f}")
assert accuracy > 0.9, accuracy
assert os.path.exists("pictures.keras")
scores = model.predict(val_ds.take(1), verbose=0)[0]
assert 0 <= scores[0] <= 1
print("ok")
