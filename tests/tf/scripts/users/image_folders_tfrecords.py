"""Images from folders, three ways: list_files with decode, ImageDataGenerator, and TFRecords with bounding data."""

import glob
import os
import pathlib

import numpy as np
import tensorflow as tf
from PIL import Image
from tensorflow.keras.layers import Conv2D, Dense, Flatten, MaxPooling2D
from tensorflow.keras.models import Sequential
from tensorflow.keras.preprocessing.image import ImageDataGenerator

tf.random.set_seed(0)

AUTOTUNE = tf.data.experimental.AUTOTUNE
IMG_HEIGHT, IMG_WIDTH, BATCH_SIZE = 16, 16, 8
rng = np.random.RandomState(0)
for split, n in (("train", 24), ("validation", 8)):
    for k, name in enumerate(("cats", "dogs")):
        folder = os.path.join("photos", split, name)
        os.makedirs(folder)
        for i in range(n):
            pixels = rng.randint(0, 80, (20, 20, 3), dtype=np.uint8)
            pixels[..., k] += 150
            Image.fromarray(pixels).save(os.path.join(folder, "%s.%d.jpg" % (name, i)), quality=95)

data_dir = pathlib.Path("photos/train")
image_count = len(list(data_dir.glob("*/*.jpg")))
CLASS_NAMES = np.array(sorted([item.name for item in data_dir.glob("*") if item.name != "LICENSE.txt"]))
list_ds = tf.data.Dataset.list_files(str(data_dir / "*/*"), shuffle=False)
list_ds = list_ds.shuffle(image_count, reshuffle_each_iteration=False)
for f in list_ds.take(2):
    print(f.numpy())


def get_label(file_path):
    parts = tf.strings.split(file_path, os.path.sep)
    one_hot = parts[-2] == CLASS_NAMES
    return tf.argmax(one_hot)


def decode_img(img):
    img = tf.io.decode_jpeg(img, channels=3)
    img = tf.image.convert_image_dtype(img, tf.float32)
    return tf.image.resize(img, [IMG_HEIGHT, IMG_WIDTH])


def process_path(file_path):
    label = get_label(file_path)
    img = tf.io.read_file(file_path)
    return decode_img(img), label


labeled_ds = list_ds.map(process_path, num_parallel_calls=AUTOTUNE)
for image, label in labeled_ds.take(1):
    print("Image shape: ", image.numpy().shape, "Label: ", label.numpy())
assert tf.data.experimental.cardinality(labeled_ds).numpy() == image_count


def prepare_for_training(ds, cache=True, shuffle_buffer_size=100):
    if cache:
        ds = ds.cache(cache) if isinstance(cache, str) else ds.cache()
    return ds.shuffle(buffer_size=shuffle_buffer_size).repeat().batch(BATCH_SIZE).prefetch(buffer_size=AUTOTUNE)


def make_model():
    return Sequential(
        [
            Conv2D(4, 3, padding="same", activation="relu", input_shape=(IMG_HEIGHT, IMG_WIDTH, 3)),
            MaxPooling2D(),
            Flatten(),
            Dense(8, activation="relu"),
            Dense(1),
        ]
    )


strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = make_model()
    model.compile(
        optimizer=tf.keras.optimizers.Adam(0.01),
        loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[tf.keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy")],
    )
train_ds = prepare_for_training(labeled_ds)
model.fit(train_ds, steps_per_epoch=image_count // BATCH_SIZE, epochs=3, verbose=2)

# Keras 2 generators.
train_image_generator = ImageDataGenerator(rescale=1.0 / 255, horizontal_flip=True, rotation_range=10)
validation_image_generator = ImageDataGenerator(rescale=1.0 / 255)
train_data_gen = train_image_generator.flow_from_directory(
    batch_size=BATCH_SIZE,
    directory="photos/train",
    shuffle=True,
    target_size=(IMG_HEIGHT, IMG_WIDTH),
    class_mode="binary",
)
val_data_gen = validation_image_generator.flow_from_directory(
    batch_size=BATCH_SIZE, directory="photos/validation", target_size=(IMG_HEIGHT, IMG_WIDTH), class_mode="binary"
)
sample_training_images, _ = next(train_data_gen)
assert sample_training_images.shape == (BATCH_SIZE, IMG_HEIGHT, IMG_WIDTH, 3)
print(train_data_gen.class_indices)
history = model.fit_generator(
    train_data_gen,
    steps_per_epoch=48 // BATCH_SIZE,
    epochs=2,
    validation_data=val_data_gen,
    validation_steps=16 // BATCH_SIZE,
    verbose=2,
)
assert history.history["val_accuracy"][-1] > 0.8, history.history


# TFRecords.
def _bytes_feature(value):
    if isinstance(value, type(tf.constant(0))):
        value = value.numpy()
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int64_feature(value):
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def _floats_feature(value):
    return tf.train.Feature(float_list=tf.train.FloatList(value=value))


files = sorted(glob.glob("photos/train/*/*.jpg"))
with tf.io.TFRecordWriter("images.tfrec", options=tf.io.TFRecordOptions(compression_type="GZIP")) as out_file:
    for path in files:
        bits = tf.io.gfile.GFile(path, "rb").read()
        feature = {
            "image": _bytes_feature(bits),
            "class": _int64_feature(int("dogs" in path)),
            "box": _floats_feature([0.0, 0.5, 1.0]),
            "name": _bytes_feature(os.path.basename(path).encode()),
        }
        out_file.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def read_tfrecord(example):
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "class": tf.io.FixedLenFeature([], tf.int64),
        "box": tf.io.FixedLenFeature([3], tf.float32),
        "name": tf.io.FixedLenFeature([], tf.string, default_value=""),
    }
    example = tf.io.parse_single_example(example, features)
    image = tf.io.decode_jpeg(example["image"], channels=3)
    image = tf.reshape(tf.cast(image, tf.float32) / 255.0, [20, 20, 3])
    return tf.image.resize(image, (IMG_HEIGHT, IMG_WIDTH)), tf.cast(example["class"], tf.int32)


option_no_order = tf.data.Options()
option_no_order.experimental_deterministic = False
records = tf.data.TFRecordDataset(tf.io.gfile.glob("*.tfrec"), num_parallel_reads=AUTOTUNE, compression_type="GZIP")
records = records.with_options(option_no_order).map(read_tfrecord, num_parallel_calls=AUTOTUNE).batch(BATCH_SIZE)
_, accuracy = model.evaluate(records, verbose=0)
assert accuracy > 0.8
print("ok")
