"""`tf.compat.v1.data`: `tf.data`, and the TensorFlow 1 functions for iterators."""

from __future__ import annotations

from typing import Any

from unisono._src.data.plans import map_leaves
from unisono.tf._spec import as_tf_spec
from unisono.tf._unsupported import unsupported_function as _unsupported_function
from unisono.tf.compat.v1._tf2_names import names_from_tf2 as _names_from_tf2


def make_one_shot_iterator(dataset: Any) -> Any:
    """Returns `iter(dataset)`."""
    return iter(dataset)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """Returns the shapes of the elements."""
    return map_leaves(lambda spec: spec.shape, as_tf_spec(dataset_or_iterator.element_spec))


def get_output_types(dataset_or_iterator: Any) -> Any:
    """Returns the dtypes of the elements."""
    return map_leaves(lambda spec: spec.dtype, as_tf_spec(dataset_or_iterator.element_spec))


make_initializable_iterator = _unsupported_function(
    "tf.compat.v1.data.make_initializable_iterator", "iterators need no initialization: write iter(dataset)."
)

__getattr__ = _names_from_tf2("tf.compat.v1.data", "unisono.tf.data")
