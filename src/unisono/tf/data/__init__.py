"""`tf.data`: Unisono's datasets, with TensorFlow's dtypes and manners."""

from unisono._src.data.dataset import AUTOTUNE as AUTOTUNE
from unisono._src.data.dataset import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from unisono._src.data.dataset import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from unisono._src.data.dataset import DatasetIterator as _DatasetIterator
from unisono._src.data.dataset import DatasetSpec as DatasetSpec
from unisono._src.data.dataset import Options as Options
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.data import experimental as experimental
from unisono.tf.data._dataset import Dataset as Dataset
from unisono.tf.data._files import FixedLengthRecordDataset as FixedLengthRecordDataset
from unisono.tf.data._files import TextLineDataset as TextLineDataset
from unisono.tf.data._files import TFRecordDataset as TFRecordDataset
from unisono.tf.data._numpy_iterator import NumpyIterator as NumpyIterator
from unisono.tf.data._options import ThreadingOptions as ThreadingOptions

Iterator = _DatasetIterator

__getattr__ = _missing_in("tf.data")
