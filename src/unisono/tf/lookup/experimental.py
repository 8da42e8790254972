"""`tf.lookup.experimental`: tables that can be changed."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.lookup._mutable_tables import DenseHashTable, MutableHashTable

__getattr__ = _missing_in("tf.lookup.experimental")
