"""Small datasets for examples, read from disk. Nothing is downloaded."""

from unisono._src.datasets import fashion_mnist, mnist

__all__ = [
    "fashion_mnist", "mnist",
]
