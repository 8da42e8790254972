"""The data that all contenders use."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
from _cases import Workload

MNIST = Path(__file__).parents[1] / "examples" / "data" / "mnist.npz"


def source() -> Literal["MNIST", "random data"]:
    """The source of the rows."""
    return "MNIST" if MNIST.exists() else "random data"


def images_and_labels() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All 60,000 rows as they are stored: uint8."""
    if MNIST.exists():
        with np.load(MNIST) as arrays:
            return arrays["x_train"], arrays["y_train"]
    random = np.random.default_rng(0)
    return random.integers(0, 256, (60_000, 28, 28), "uint8"), random.integers(0, 10, 60_000, "uint8")


def load(workload: Workload) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(x, y): images as float32 in 0..1, shaped for the network, and labels as int32."""
    images, labels = images_and_labels()
    if workload.num_rows > len(images):
        raise ValueError(f"A round of {workload.num_rows} rows was requested; the data has {len(images)}.")
    shape = (-1, 784) if workload.network == "mlp" else (-1, 28, 28, 1)
    x = (images[: workload.num_rows] / np.float32(255)).reshape(shape)
    return x.astype("float32"), labels[: workload.num_rows].astype("int32")
