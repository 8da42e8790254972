"""Datasets with tf.data's methods: `Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(64)`."""

from unisono.data import experimental as experimental
from unisono.data import random as random
from unisono.data._dataset import Dataset as Dataset
from unisono.data._files import TextLineDataset as TextLineDataset
from unisono.data._files import TFRecordDataset as TFRecordDataset
from unisono.data._images import ImageDataset as ImageDataset
from unisono.data._images import image_dataset_from_directory as image_dataset_from_directory
from unisono.data._iterator import DatasetIterator as DatasetIterator
from unisono.data._iterator import Optional as Optional
from unisono.data._spec import DatasetSpec as DatasetSpec
from unisono.data._spec import TensorSpec as TensorSpec
from unisono.plans import AUTOTUNE as AUTOTUNE
from unisono.plans import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from unisono.plans import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from unisono.plans import AutoShardPolicy as AutoShardPolicy
from unisono.plans import Options as Options
