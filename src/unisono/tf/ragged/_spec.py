"""`tf.RaggedTensorSpec`: the shape and dtype of a ragged tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unisono._src.data.plans import CompositeSpec
from unisono.tf._dtypes import as_dtype, float32, int64
from unisono.tf._shape import TensorShape
from unisono.tf._spec import TensorSpec
from unisono.tf.ragged._base import is_ragged

UNKNOWN_RANK = "RaggedTensorSpec: shape is None and ragged_rank is not given. Write shape=[None] * rank."


class RaggedTensorSpec(CompositeSpec):
    """The shape, with None for ragged dims and sizes that may vary, and the dtype of a ragged tensor.

    >>> RaggedTensorSpec([None, None], "int32")
    RaggedTensorSpec(TensorShape([None, None]), tf.int32, 1, tf.int64)

    Args:
        shape: the shape.
        dtype: of the values.
        ragged_rank: how many dims are ragged; all but the first if None. 0 for a dense row of a ragged tensor.
        row_splits_dtype: of the row splits.
        flat_values_spec: accepted, without effect.
    """

    value_type: type  # RaggedTensor, which imports this module

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = int64,
        flat_values_spec: Any = None,
    ) -> None:
        self.shape, self.dtype, self.row_splits_dtype = TensorShape(shape), as_dtype(dtype), as_dtype(row_splits_dtype)
        if ragged_rank is None:
            if self.shape.rank is None:
                raise ValueError(UNKNOWN_RANK)
            ragged_rank = self.shape.rank - 1
        self.ragged_rank = ragged_rank
        if self.shape.rank is not None and ragged_rank >= max(self.shape.rank, 1):
            raise ValueError(f"RaggedTensorSpec: ragged_rank is {ragged_rank}, and the shape {self.shape}.")

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a ragged tensor."""
        return cls(value.shape, value.dtype, getattr(value, "ragged_rank", 0))

    def batched(self, num_rows: int | None) -> RaggedTensorSpec:
        """The spec of such tensors stacked."""
        return RaggedTensorSpec([num_rows, *self.shape], self.dtype, self.ragged_rank + 1, self.row_splits_dtype)

    def unbatched(self) -> Any:
        """The spec of a row."""
        if self.ragged_rank == 0:
            return TensorSpec(self.shape[1:], self.dtype)
        return RaggedTensorSpec(self.shape[1:], self.dtype, self.ragged_rank - 1, self.row_splits_dtype)

    def with_shape(self, shape: Sequence[int | None]) -> RaggedTensorSpec:
        """The same with another shape."""
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self.row_splits_dtype)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a ragged tensor or its spec has this dtype, and a compatible shape and ragged rank."""
        other = spec_or_value
        if not isinstance(other, RaggedTensorSpec) and not is_ragged(other):
            return False
        same = as_dtype(other.dtype) == self.dtype and other.ragged_rank == self.ragged_rank
        return same and self.shape.is_compatible_with(other.shape)

    def check(self, leaf: Any, where: str) -> Any:
        """The tensor on the host, if it fits; else an error."""
        if not self.is_compatible_with(leaf):
            raise TypeError(f"{where} is {leaf!r}. Expected a ragged tensor that fits {self!r}.")
        return leaf.to_host()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedTensorSpec) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.ragged_rank, self.row_splits_dtype

    def __repr__(self) -> str:
        return f"RaggedTensorSpec({self.shape!r}, {self.dtype!r}, {self.ragged_rank}, {self.row_splits_dtype!r})"
