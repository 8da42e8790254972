"""`tf.distribute.experimental.partitioners`, not supported: they split variables over parameter servers."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.distribute._parameter_servers import (
    FixedShardsPartitioner,
    MaxSizePartitioner,
    MinSizePartitioner,
    Partitioner,
)

__getattr__ = _explain_missing_names("tf.distribute.experimental.partitioners")
