"""`tf.data.experimental`: older names of methods of `tf.data.Dataset`, and names that exist only here."""

from unisono._src.data.dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, AutoShardPolicy, Optional
from unisono.data.experimental import DistributeOptions, assert_cardinality
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.data._csv import CsvDataset, make_csv_dataset
from unisono.tf.data._files import TFRecordWriter, make_batched_features_dataset, parse_example_dataset
from unisono.tf.data._old_functions import (
    Counter, RandomDataset, at, bucket_by_sequence_length, cardinality, choose_from_datasets, copy_to_device,
    dense_to_ragged_batch, dense_to_sparse_batch, enable_debug_mode, enumerate_dataset, from_list,
    get_next_as_optional, get_single_element, get_structure, group_by_window, ignore_errors, load, map_and_batch,
    parallel_interleave, prefetch_to_device, rejection_resample, sample_from_datasets, save, scan, shuffle_and_repeat,
    snapshot, take_while, unbatch, unique,
)
from unisono.tf.data._options import (
    AutotuneAlgorithm, AutotuneOptions, ExternalStatePolicy, OptimizationOptions, ThreadingOptions,
)
from unisono.tf.data.experimental import service

__getattr__ = _explain_missing_names("tf.data.experimental")
