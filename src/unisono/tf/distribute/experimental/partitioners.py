"""`tf.distribute.experimental.partitioners`: how weights are split over parameter servers."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono._src.parameter_servers import (
    FixedShardsPartitioner,
    MaxSizePartitioner,
    MinSizePartitioner,
    Partitioner,
)
from unisono.tf._missing import explain_missing_names as _explain_missing_names

__getattr__ = _explain_missing_names("tf.distribute.experimental.partitioners")
