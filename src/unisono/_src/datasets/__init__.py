"""Datasets for examples, read from disk; nothing is downloaded."""

from unisono._src.datasets._keras import prefer_local_datasets
from unisono._src.datasets._local import Arrays, DatasetFilesNotFoundError, read_local
from unisono._src.datasets._mnist import fashion_mnist, mnist
