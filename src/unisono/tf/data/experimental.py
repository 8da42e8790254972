"""`tf.data.experimental`: what has moved to `tf.data.Dataset` by its older name, and what never left."""

from unisono._src.data.dataset import AUTOTUNE as AUTOTUNE
from unisono._src.data.dataset import INFINITE_CARDINALITY as INFINITE_CARDINALITY
from unisono._src.data.dataset import UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY
from unisono._src.data.dataset import AutoShardPolicy as AutoShardPolicy
from unisono._src.data.dataset import Optional as Optional
from unisono.data.experimental import DistributeOptions as DistributeOptions
from unisono.data.experimental import assert_cardinality as assert_cardinality
from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.data import _service
from unisono.tf.data._csv import CsvDataset as CsvDataset
from unisono.tf.data._csv import make_csv_dataset as make_csv_dataset
from unisono.tf.data._examples import make_batched_features_dataset as make_batched_features_dataset
from unisono.tf.data._examples import parse_example_dataset as parse_example_dataset
from unisono.tf.data._old_functions import Counter as Counter
from unisono.tf.data._old_functions import RandomDataset as RandomDataset
from unisono.tf.data._old_functions import at as at
from unisono.tf.data._old_functions import bucket_by_sequence_length as bucket_by_sequence_length
from unisono.tf.data._old_functions import cardinality as cardinality
from unisono.tf.data._old_functions import choose_from_datasets as choose_from_datasets
from unisono.tf.data._old_functions import copy_to_device as copy_to_device
from unisono.tf.data._old_functions import dense_to_ragged_batch as dense_to_ragged_batch
from unisono.tf.data._old_functions import dense_to_sparse_batch as dense_to_sparse_batch
from unisono.tf.data._old_functions import enable_debug_mode as enable_debug_mode
from unisono.tf.data._old_functions import enumerate_dataset as enumerate_dataset
from unisono.tf.data._old_functions import from_list as from_list
from unisono.tf.data._old_functions import get_next_as_optional as get_next_as_optional
from unisono.tf.data._old_functions import get_single_element as get_single_element
from unisono.tf.data._old_functions import get_structure as get_structure
from unisono.tf.data._old_functions import group_by_window as group_by_window
from unisono.tf.data._old_functions import ignore_errors as ignore_errors
from unisono.tf.data._old_functions import load as load
from unisono.tf.data._old_functions import map_and_batch as map_and_batch
from unisono.tf.data._old_functions import parallel_interleave as parallel_interleave
from unisono.tf.data._old_functions import prefetch_to_device as prefetch_to_device
from unisono.tf.data._old_functions import rejection_resample as rejection_resample
from unisono.tf.data._old_functions import sample_from_datasets as sample_from_datasets
from unisono.tf.data._old_functions import save as save
from unisono.tf.data._old_functions import scan as scan
from unisono.tf.data._old_functions import shuffle_and_repeat as shuffle_and_repeat
from unisono.tf.data._old_functions import snapshot as snapshot
from unisono.tf.data._old_functions import take_while as take_while
from unisono.tf.data._old_functions import unbatch as unbatch
from unisono.tf.data._old_functions import unique as unique
from unisono.tf.data._options import AutotuneAlgorithm as AutotuneAlgorithm
from unisono.tf.data._options import AutotuneOptions as AutotuneOptions
from unisono.tf.data._options import ExternalStatePolicy as ExternalStatePolicy
from unisono.tf.data._options import OptimizationOptions as OptimizationOptions
from unisono.tf.data._options import ThreadingOptions as ThreadingOptions
from unisono.tf.data._record_writer import TFRecordWriter as TFRecordWriter

service = _service

__getattr__ = _missing_in("tf.data.experimental")
