"""`tf.SparseTensorSpec`: the shape and dtype of a sparse tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unisono._src.data.plans import CompositeSpec
from unisono.tf._dtypes import as_dtype, float32
from unisono.tf._shape import TensorShape


class SparseTensorSpec(CompositeSpec):
    """The shape, with None for sizes that may vary, and the dtype of a sparse tensor.

    >>> SparseTensorSpec([None, 10], "int64")
    SparseTensorSpec(TensorShape([None, 10]), tf.int64)
    """

    value_type: type  # SparseTensor, which imports this module

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self.shape, self.dtype = TensorShape(shape), as_dtype(dtype)

    @classmethod
    def from_value(cls, value: Any) -> SparseTensorSpec:
        """The spec of a sparse tensor."""
        return cls(value.shape, value.dtype)

    @property
    def rank(self) -> Any:
        """The number of dims."""
        return self.shape.rank

    def batched(self, num_rows: int | None) -> SparseTensorSpec:
        """The spec of such tensors stacked."""
        return SparseTensorSpec([num_rows, *self.shape], self.dtype)

    def unbatched(self) -> SparseTensorSpec:
        """The spec of a row."""
        return SparseTensorSpec(self.shape[1:], self.dtype)

    def with_shape(self, shape: Sequence[int | None]) -> SparseTensorSpec:
        """The same with another shape."""
        return SparseTensorSpec(shape, self.dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a sparse tensor or its spec has this dtype and a compatible shape."""
        other = spec_or_value
        is_sparse = isinstance(other, SparseTensorSpec) or hasattr(other, "dense_shape")
        return is_sparse and as_dtype(other.dtype) == self.dtype and self.shape.is_compatible_with(other.shape)

    def check(self, leaf: Any, where: str) -> Any:
        """The tensor on the host, if it fits; else an error."""
        if not self.is_compatible_with(leaf):
            raise TypeError(f"{where} is {leaf!r}. Expected a sparse tensor that fits {self!r}.")
        return leaf.to_host()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SparseTensorSpec) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"SparseTensorSpec({self.shape!r}, {self.dtype!r})"
