"""`tf.compat.v1.data`: datasets, and iterators by their older names."""

from __future__ import annotations

from typing import Any

from unisono._src.data.plans import map_leaves
from unisono.tf._spec import as_tf_spec
from unisono.tf._unsupported import unsupported_function
from unisono.tf.compat.v1._tf2_names import fallen_back


def make_one_shot_iterator(dataset: Any) -> Any:
    """`iter(dataset)`."""
    return iter(dataset)


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements."""
    return _of_specs(dataset_or_iterator, "shape")


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtypes of the elements."""
    return _of_specs(dataset_or_iterator, "dtype")


make_initializable_iterator = unsupported_function(
    "tf.compat.v1.data.make_initializable_iterator", "iterators need no initializing: write iter(dataset)."
)


def _of_specs(dataset: Any, member: str) -> Any:
    return map_leaves(lambda spec: getattr(spec, member), as_tf_spec(dataset.element_spec))


__getattr__ = fallen_back("tf.compat.v1.data", "unisono.tf.data")
