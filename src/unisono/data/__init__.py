"""Datasets with tf.data's methods: `Dataset.from_tensor_slices((x, y)).shuffle(1000).batch(64)`."""

from unisono.data._dataset import Dataset
from unisono.data._spec import TensorSpec
from unisono.plans import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "TensorSpec",
]
