"""Small datasets for examples, read from disk, or downloaded by Keras where this machine does not have them."""

from unisono._src.datasets import fashion_mnist, mnist

__all__ = [
    "fashion_mnist", "mnist",
]
