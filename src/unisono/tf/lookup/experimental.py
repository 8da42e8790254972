"""`tf.lookup.experimental`: tables that can be changed."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.lookup._mutable import DenseHashTable as DenseHashTable
from unisono.tf.lookup._mutable import MutableHashTable as MutableHashTable

__getattr__ = _missing_in("tf.lookup.experimental")
