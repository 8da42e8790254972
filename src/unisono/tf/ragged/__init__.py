"""`tf.ragged`: rows of different lengths."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.ragged._elementwise import map_flat_values
from unisono.tf.ragged._factories import (
    constant, range, row_splits_to_segment_ids, segment_ids_to_row_splits, stack, stack_dynamic_partitions,
)
from unisono.tf.ragged._gather import boolean_mask
from unisono.tf.ragged._pytree import register as _register_pytree
from unisono.tf.ragged._structure_ops import cross, cross_hashed
from unisono.tf.ragged._dispatch import register as _register  # isort: skip  (it registers the functions above)

_register()
_register_pytree()

__getattr__ = _explain_missing_names("tf.ragged")
