"""`tf.nest`: lists, tuples, named tuples and dicts of things."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.nest._structures import assert_same_structure as assert_same_structure
from unisono.tf.nest._structures import flatten as flatten
from unisono.tf.nest._structures import is_nested as is_nested
from unisono.tf.nest._structures import map_structure as map_structure
from unisono.tf.nest._structures import pack_sequence_as as pack_sequence_as

__getattr__ = _missing_in("tf.nest")
