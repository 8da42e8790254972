"""Datasets with tf.data's methods: `Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(64)`."""

from unisono._src.data.dataset._audio import audio_dataset_from_directory
from unisono._src.data.dataset._dataset import Dataset
from unisono._src.data.dataset._files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from unisono._src.data.dataset._folder_dataset import FolderDataset
from unisono._src.data.dataset._images import image_dataset_from_directory
from unisono._src.data.dataset._iterator import DatasetIterator, Optional, element_conversion
from unisono._src.data.dataset._texts import text_dataset_from_directory
from unisono._src.data.plans import (
    AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, AutoShardPolicy, DatasetSpec, Options, TensorSpec,
)
