"""`unisono demo`: MNIST on all GPUs, or on two CPU replicas where there is none; or one of the examples by its name."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from rich.console import Console
from rich.table import Table

from unisono._src.cli._examples import describe_examples, find_examples, run_example
from unisono._src.core import read_environment
from unisono._src.datasets import DatasetFilesNotFoundError, mnist
from unisono._src.strategy import MirroredStrategy, OneDeviceStrategy, Strategy
from unisono.config import set_cpu_devices

GLOBAL_BATCH = 128
EPOCHS = 2
COMPARED_STEPS = 100


def demo(arguments: Sequence[str]) -> int:
    """Runs an example, or lists them, or compares all devices with one; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="unisono demo",
        description="Without a name: trains a small network on MNIST on all GPUs, or on two CPU replicas, and "
        "compares the weights with the result of training on one device.",
    )
    parser.add_argument("--list", action="store_true", help="list the examples")
    parser.add_argument("name", nargs="?", metavar="NAME", help="run this example")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments for the example")
    options = parser.parse_args(arguments)
    if options.list:
        print(describe_examples())
        return 0
    if options.name is not None and options.name not in find_examples():
        parser.error(f"there is no example {options.name!r}. Choose one of: {', '.join(find_examples())}.")
    try:
        return _compare_with_one_device() if options.name is None else run_example(options.name, options.arguments)
    except DatasetFilesNotFoundError as error:
        print(error, file=sys.stderr)
        return 1


def _compare_with_one_device() -> int:
    """Trains, evaluates, compares with one device, prints a table."""
    strategy = _all_devices()
    (x, y), (x_test, y_test) = mnist()
    x, x_test = (images.reshape(-1, 784).astype("float32") / 255 for images in (x, x_test))

    model = _model(strategy)
    clock = _TrainingClock()
    model.fit(x, y, batch_size=GLOBAL_BATCH, epochs=EPOCHS, validation_data=(x_test, y_test), callbacks=[clock])
    _, accuracy = model.evaluate(x_test, y_test, batch_size=GLOBAL_BATCH)

    rows = COMPARED_STEPS * GLOBAL_BATCH
    difference = _difference(
        _train_weights(strategy, x[:rows], y[:rows]),
        _train_weights(OneDeviceStrategy(strategy.extended.worker_devices[0]), x[:rows], y[:rows]),
    )
    table = Table("devices", "samples/s", "test accuracy", f"max weight difference, {COMPARED_STEPS} steps")
    table.add_row(
        ", ".join(strategy.extended.worker_devices),
        f"{len(x) / clock.seconds:,.0f}",
        f"{accuracy:.4f}",
        f"{difference:.1e} from one device",
    )
    Console().print(table)
    return 0


def _all_devices() -> Strategy:
    if read_environment().cpu_devices is None:
        set_cpu_devices(2)  # used only where there is no GPU
    return MirroredStrategy()


def _model(strategy: Strategy) -> Any:
    keras.utils.set_random_seed(1)
    with strategy.scope():
        model = keras.Sequential(
            [
                keras.Input((784,)),
                keras.layers.Dense(256, activation="relu"),
                keras.layers.Dense(256, activation="relu"),
                keras.layers.Dense(10),
            ]
        )
        model.compile(
            optimizer=keras.optimizers.Adam(),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
    return model


def _train_weights(strategy: Strategy, x: Any, y: Any) -> list[Any]:
    model = _model(strategy)
    model.fit(x, y, batch_size=GLOBAL_BATCH, shuffle=False, verbose=0)
    weights: list[Any] = model.get_weights()
    return weights


def _difference(weights: list[Any], expected: list[Any]) -> float:
    return max(float(np.max(np.abs(one - other))) for one, other in zip(weights, expected, strict=True))


class _TrainingClock(keras.callbacks.Callback):
    """The seconds of the last epoch without validation. Compilation is in the first epoch."""

    seconds = 0.0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._began = time.perf_counter()

    def on_test_begin(self, logs: Any = None) -> None:
        self.seconds = time.perf_counter() - self._began
