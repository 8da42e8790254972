"""`tf.data`: Unisono's datasets, with TensorFlow's dtypes and methods."""

from unisono._src.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, DatasetSpec, Options
from unisono._src.data.dataset import DatasetIterator as _DatasetIterator
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.data import experimental
from unisono.tf.data._conversions import NumpyIterator
from unisono.tf.data._dataset import Dataset
from unisono.tf.data._files import FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from unisono.tf.data._options import ThreadingOptions

Iterator = _DatasetIterator

__getattr__ = _explain_missing_names("tf.data")
