"""A CNN on a folder of images, one subfolder for each class, with random augmentation.

    python examples/image_folder.py                        # makes a small folder of drawn shapes, and trains on it
    python examples/image_folder.py photos --size 128      # photos/cats/*.jpg, photos/dogs/*.jpg, …
    UNISONO_CPU_DEVICES=2 python examples/image_folder.py

Needs two packages: pip install pillow simplejpeg

Output on two CPU devices:

    Found 1500 files belonging to 3 classes.
    Using 1200 files for training and 300 for validation.
    …
    Epoch 1/15
    38/38 - 8s - 201ms/step - accuracy: 0.3867 - loss: 1.0932 - val_accuracy: 0.4233 - val_loss: 1.0809
    …
    Epoch 15/15
    38/38 - 0s - 10ms/step - accuracy: 0.9825 - loss: 0.0653 - val_accuracy: 1.0000 - val_loss: 0.0364

and what it says of three images:

    a circle, taken for a circle
    a triangle, taken for a triangle
    a circle, taken for a circle
"""

import argparse
import tempfile
from pathlib import Path

import unisono  # before keras: it selects Keras's JAX backend
import keras
import numpy as np
from keras import layers
from PIL import Image, ImageDraw

BATCH = 32


def draw_shapes(folder, number):
    """Three classes of PNG files: circles, squares and triangles of random sizes and colours, on noise."""
    rng = np.random.default_rng(0)
    corners = {"circle": 90, "square": 4, "triangle": 3}  # a polygon of 90 corners looks round
    for name, sides in corners.items():
        (folder / name).mkdir(parents=True)
        for index in range(number):
            image = Image.fromarray(rng.integers(0, 120, (48, 48, 3), np.uint8))
            x, y, radius = rng.integers(17, 31), rng.integers(17, 31), rng.integers(9, 15)
            colour = tuple(int(part) for part in rng.integers(100, 255, 3))
            turn = int(rng.integers(0, 360))
            ImageDraw.Draw(image).regular_polygon((int(x), int(y), int(radius)), sides, turn, fill=colour)
            image.save(folder / name / f"{index}.png")


def make_model(num_classes, size):
    return keras.Sequential(
        [
            keras.Input((size, size, 3)),
            layers.RandomFlip(),  # these three do something in training only
            layers.RandomBrightness(0.2),
            layers.RandomContrast(0.2),
            layers.Rescaling(1 / 255),
            layers.Conv2D(16, 3, strides=2, activation="relu"),
            layers.Conv2D(32, 3, strides=2, activation="relu"),
            layers.Conv2D(64, 3, strides=2, activation="relu"),
            layers.GlobalMaxPooling2D(),
            layers.Dense(num_classes),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--size", type=int, default=48, help="images are resized to SIZE x SIZE")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--number", type=int, default=500, help="images to draw for each class")
    options = parser.parse_args()
    keras.utils.set_random_seed(0)
    with tempfile.TemporaryDirectory() as drawn:
        if options.folder is None:
            draw_shapes(Path(drawn, "shapes"), options.number)
        train_on_folder(options.folder or Path(drawn, "shapes"), options)


def train_on_folder(folder, options):
    split = {"batch_size": BATCH, "image_size": (options.size, options.size), "seed": 0, "validation_split": 0.2}
    train = unisono.data.image_dataset_from_directory(folder, subset="training", **split)
    validation = unisono.data.image_dataset_from_directory(folder, subset="validation", **split)
    strategy = unisono.MirroredStrategy()
    with strategy.scope():
        model = make_model(len(train.class_names), options.size)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.Adam(2e-3), loss, metrics=["accuracy"])
    model.fit(train.cache(), validation_data=validation.cache(), epochs=options.epochs, verbose=2)
    images, labels = next(iter(validation))
    guesses = model.predict(images, verbose=0).argmax(axis=-1)
    for label, guess in zip(labels[:3], guesses[:3], strict=True):
        print(f"a {train.class_names[label]}, taken for a {train.class_names[guess]}")


if __name__ == "__main__":
    main()
