"""Datasets for examples, read from disk; nothing is downloaded."""

from unisono._src.datasets._local_files import (
    Arrays, DatasetFilesNotFoundError, fashion_mnist, mnist, read_local_dataset,
)
