"""Datasets with tf.data's methods: `Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(64)`."""

from unisono._src.data.dataset import (
    Dataset, DatasetIterator, DatasetSpec, FixedLengthRecordDataset, FolderDataset, Optional, TensorSpec,
    TextLineDataset, TFRecordDataset, audio_dataset_from_directory, image_dataset_from_directory,
    text_dataset_from_directory,
)
from unisono._src.data.plans import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, AutoShardPolicy, Options
from unisono.data import experimental, random

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "AutoShardPolicy", "Dataset", "DatasetIterator",
    "DatasetSpec", "FixedLengthRecordDataset", "FolderDataset", "Optional", "Options", "TFRecordDataset", "TensorSpec",
    "TextLineDataset", "audio_dataset_from_directory", "experimental", "image_dataset_from_directory", "random",
    "text_dataset_from_directory",
]
