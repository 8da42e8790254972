"""`tf.distribute.experimental.partitioners`, refused: they split variables over parameter servers."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.distribute._parameter_servers import (
    FixedShardsPartitioner,
    MaxSizePartitioner,
    MinSizePartitioner,
    Partitioner,
)

__getattr__ = _missing_in("tf.distribute.experimental.partitioners")
