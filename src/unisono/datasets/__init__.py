"""Datasets for examples, read from disk; nothing is downloaded."""

from unisono.datasets._npz import fashion_mnist as fashion_mnist
from unisono.datasets._npz import mnist as mnist
