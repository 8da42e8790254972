"""What the blocks of pages take for granted: data, a dataset, a compiled model. Imported by their setups."""

from __future__ import annotations

import contextlib
import json
import os
import socket

import keras
import numpy as np

import unisono
import unisono.tf as tf

NUM_FEATURES, NUM_CLASSES = 20, 10


def make_rows(num_rows: int = 128) -> tuple[np.ndarray, np.ndarray]:
    """Features, and a class for each row."""
    generator = np.random.default_rng(0)
    features = generator.normal(size=(num_rows, NUM_FEATURES)).astype("float32")
    return features, generator.integers(0, NUM_CLASSES, num_rows)


def make_images(num_images: int = 128) -> tuple[np.ndarray, np.ndarray]:
    """Images as MNIST has them, and a class for each."""
    generator = np.random.default_rng(0)
    return generator.integers(0, 256, (num_images, 28, 28), "uint8"), generator.integers(0, NUM_CLASSES, num_images)


def make_dataset() -> unisono.data.Dataset:
    """Batches of rows."""
    return unisono.data.Dataset.from_tensor_slices(make_rows()).batch(32)


def make_model(strategy: unisono.Strategy | None = None) -> keras.Model:
    """A compiled classifier, created in the scope of a strategy."""
    with (strategy or unisono.MirroredStrategy(["cpu:0", "cpu:1"])).scope():
        model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(NUM_CLASSES)])
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model


def start_parameter_servers() -> list[tf.distribute.Server]:
    """Two workers and a parameter server as threads of this process, which becomes the chief by its TF_CONFIG."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.create_server(("localhost", 0))) for _ in range(4)]
        addresses = [f"localhost:{each.getsockname()[1]}" for each in held]
    jobs = {"chief": addresses[:1], "worker": addresses[1:3], "ps": addresses[3:]}
    os.environ["TF_CONFIG"] = json.dumps({"cluster": jobs, "task": {"type": "chief", "index": 0}})
    return [
        tf.distribute.Server(tf.train.ClusterSpec(jobs), *task) for task in (("worker", 0), ("worker", 1), ("ps", 0))
    ]
