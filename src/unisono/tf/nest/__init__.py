"""`tf.nest`: lists, tuples, named tuples and dicts of things."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.nest._structures import assert_same_structure, flatten, is_nested, map_structure, pack_sequence_as

__getattr__ = _missing_in("tf.nest")
