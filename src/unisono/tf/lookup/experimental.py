"""`tf.lookup.experimental`: mutable lookup tables."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.lookup._mutable_tables import DenseHashTable, MutableHashTable

__getattr__ = _explain_missing_names("tf.lookup.experimental")
