"""`tf.TensorSpec` and related classes: the shape, dtype and name of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from unisono import data
from unisono._src.data.dataset import Dataset
from unisono._src.data.plans import CompositeLeaf, CompositeSpec, Nest, map_leaves, spec_of_leaf
from unisono._src.replicas.values import PerReplicaSpec
from unisono.tf._dtypes import as_dtype, float32
from unisono.tf._shape import TensorShape
from unisono.tf._tensors import convert_to_tensor


class _TypeSpecMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        known = data.TensorSpec | data.DatasetSpec | PerReplicaSpec | CompositeSpec
        return isinstance(instance, known) if cls is TypeSpec else type.__instancecheck__(cls, instance)


class TypeSpec(metaclass=_TypeSpecMeta):
    """For `isinstance(spec, tf.TypeSpec)`: the spec of a tensor, of a dataset, or of a per-replica value."""


class TensorSpec(data.TensorSpec):
    """A shape, a dtype and an optional name.

    >>> TensorSpec([None, 28, 28], "float32")
    TensorSpec(shape=(None, 28, 28), dtype=tf.float32, name=None)
    """

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        object.__setattr__(self, "shape", TensorShape(shape))
        object.__setattr__(self, "dtype", as_dtype(dtype))
        object.__setattr__(self, "name", name)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """The same spec with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of this tensor."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_tensor: Any) -> bool:
        """Whether the argument has this dtype and a compatible shape."""
        found = spec_or_tensor if hasattr(spec_or_tensor, "dtype") else np.asarray(spec_or_tensor)
        return self.dtype == as_dtype(found.dtype) and TensorShape(self.shape).is_compatible_with(found.shape)

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The shape with the dimensions that both have in common."""
        dims = zip(self.shape, other.shape, strict=True)
        return TensorShape([one if one == two else None for one, two in dims])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, data.TensorSpec):
            return NotImplemented
        same = TensorShape(self.shape) == TensorShape(other.shape) and self.dtype == as_dtype(other.dtype)
        return same and self.name == other.name

    def __hash__(self) -> int:
        return hash((tuple(self.shape), self.dtype, self.name))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"


def as_tf_spec(spec: Nest) -> Nest:
    """Converts the leaves of a spec to the namespace's classes."""
    return map_leaves(_convert_leaf, spec)


def _convert_leaf(leaf: Any) -> Any:
    if isinstance(leaf, data.TensorSpec):
        return TensorSpec(leaf.shape, leaf.dtype, leaf.name)
    if isinstance(leaf, data.DatasetSpec):
        return data.DatasetSpec(as_tf_spec(leaf.element_spec))
    if isinstance(leaf, PerReplicaSpec):
        return PerReplicaSpec(*map(_convert_leaf, leaf.specs))
    return leaf


def type_spec_from_value(value: Any) -> Any:
    """The spec of a tensor, or of what can be one, of a ragged or sparse tensor, an ExtensionType or a dataset.

    >>> type_spec_from_value([[1.0, 2.0]])
    TensorSpec(shape=(1, 2), dtype=tf.float32, name=None)
    """
    if isinstance(value, CompositeLeaf | Dataset):
        return as_tf_spec(spec_of_leaf(value))
    return TensorSpec.from_tensor(value if hasattr(value, "dtype") else convert_to_tensor(value))
