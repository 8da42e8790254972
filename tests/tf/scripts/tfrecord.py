"""Examples in TFRecord files, some without a label; TPUs if there are any; a network with an AUC."""

import os
from functools import partial

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)

try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
    print("Device:", tpu.master())
    strategy = tf.distribute.TPUStrategy(tpu)
except ValueError:
    strategy = tf.distribute.MirroredStrategy()
print("Replicas:", strategy.num_replicas_in_sync)
AUTOTUNE = tf.data.AUTOTUNE
BATCH_SIZE = 8 * strategy.num_replicas_in_sync
IMAGE_SIZE = [16, 16]

# The files.
rng = np.random.default_rng(2)
os.makedirs("pictures")
for part in range(3):
    with tf.io.TFRecordWriter(f"pictures/part-{part}.tfrec") as writer:
        for number in range(64):
            bright = number % 2
            image = rng.integers(0, 120, (16, 16, 3)) + 120 * bright
            feature = {
                "image": tf.train.Feature(
                    bytes_list=tf.train.BytesList(value=[tf.io.encode_jpeg(tf.constant(image, tf.uint8)).numpy()])
                )
            }
            if part < 2:
                feature["target"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[bright]))
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

filenames = sorted(tf.io.gfile.glob("pictures/*.tfrec"))
labeled, unlabeled = filenames[:2], tf.io.gfile.glob("pictures/part-2.tfrec")


def decode_image(image):
    image = tf.image.decode_jpeg(image, channels=3)
    image = tf.cast(image, tf.float32) / 255.0
    return tf.reshape(image, [*IMAGE_SIZE, 3])


def read_tfrecord(example, labeled):
    description = {"image": tf.io.FixedLenFeature([], tf.string)}
    if labeled:
        description["target"] = tf.io.FixedLenFeature([], tf.int64)
    example = tf.io.parse_single_example(example, description)
    image = decode_image(example["image"])
    return (image, tf.cast(example["target"], tf.int32)) if labeled else image


def load_dataset(filenames, labeled=True):
    in_any_order = tf.data.Options()
    in_any_order.experimental_deterministic = False
    dataset = tf.data.TFRecordDataset(filenames).with_options(in_any_order)
    return dataset.map(partial(read_tfrecord, labeled=labeled), num_parallel_calls=AUTOTUNE)


def get_dataset(filenames, labeled=True):
    return load_dataset(filenames, labeled).shuffle(128).prefetch(buffer_size=AUTOTUNE).batch(BATCH_SIZE)


train_dataset = get_dataset(labeled)
images, labels = next(iter(train_dataset))
assert images.numpy().shape == (BATCH_SIZE, 16, 16, 3) and set(labels.numpy()) <= {0, 1}

rate = tf.keras.optimizers.schedules.ExponentialDecay(0.01, decay_steps=20, decay_rate=0.96, staircase=True)


def make_model():
    inputs = tf.keras.layers.Input(shape=(*IMAGE_SIZE, 3))
    x = tf.keras.layers.Conv2D(8, 3, strides=2, activation="relu")(inputs)
    x = tf.keras.layers.GlobalAveragePooling2D()(x)
    x = tf.keras.layers.Dense(8, activation="relu")(x)
    x = tf.keras.layers.Dropout(0.1)(x)
    outputs = tf.keras.layers.Dense(1, activation="sigmoid")(x)
    model = tf.keras.Model(inputs=inputs, outputs=outputs)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(learning_rate=rate),
        loss="binary_crossentropy",
        metrics=[tf.keras.metrics.AUC(name="auc")],
    )
    return model


with strategy.scope():
    model = make_model()
history = model.fit(
    train_dataset,
    epochs=6,
    validation_data=get_dataset(labeled[1:]),
    callbacks=[
        tf.keras.callbacks.ModelCheckpoint("pictures.keras", save_best_only=True),
        tf.keras.callbacks.EarlyStopping(patience=4, restore_best_weights=True),
    ],
    verbose=2,
).history
assert max(history["val_auc"]) > 0.9, history
for image in load_dataset(unlabeled, labeled=False).take(3):
    score = model.predict(tf.expand_dims(image, axis=0), verbose=0)[0]
    assert 0 <= score <= 1
print("ok")
