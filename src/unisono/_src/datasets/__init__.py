"""Datasets for examples: files of this machine, else what Keras downloads."""

from unisono._src.datasets._load import fashion_mnist, load_with_keras, mnist
from unisono._src.datasets._local_files import Arrays, DatasetFilesNotFoundError, read_local_dataset
