"""MNIST and Fashion-MNIST as arrays."""

from __future__ import annotations

from unisono._src.datasets._local import Arrays, read_local


def mnist() -> Arrays:
    """``(x_train, y_train), (x_test, y_test)``: 60,000 and 10,000 digits of 28x28 bytes."""
    return read_local("mnist")


def fashion_mnist() -> Arrays:
    """``(x_train, y_train), (x_test, y_test)``: 60,000 and 10,000 garments of 28x28 bytes."""
    return read_local("fashion_mnist")
