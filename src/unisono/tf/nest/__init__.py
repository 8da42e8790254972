"""`tf.nest`: functions for nested lists, tuples, named tuples and dicts."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.nest._structures import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__getattr__ = _explain_missing_names("tf.nest")
