"""What a loop can turn over although it is known only when the program runs: rows of arrays, ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from unisono._src.tracing.control_flow._errors import ControlFlowError, refused
from unisono._src.tracing.control_flow._traced import array_of, is_traced

UNKNOWN_LENGTH = """The length of {range} is known only when the program runs, so it is no array and Python cannot
iterate over it{why}. Inside a tf.function write
    for i in tf.range(n):
and for an array of numbers pass the length as a Python number:
    tf.range(10)"""


@dataclass(frozen=True, eq=False)
class TracedRange:
    """The numbers from ``start`` up to ``limit`` in steps of ``delta``, some of which are known only later.

    A `for` in a converted function turns over it. It is no array, since arrays have a length.
    """

    start: Any
    limit: Any
    delta: Any = 1

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        return jnp.result_type(*map(array_of, (self.start, self.limit, self.delta)))

    @property
    def count(self) -> Any:
        """How many there are, as an array."""
        start, limit, delta = (jnp.asarray(array_of(end)) for end in (self.start, self.limit, self.delta))
        if jnp.issubdtype(self.dtype, jnp.integer):
            count = (limit - start + delta - jnp.sign(delta)) // delta
        else:
            count = jnp.ceil((limit - start) / delta)
        return jnp.maximum(count, 0).astype("int32")

    def number(self, index: Any) -> Any:
        """The number at this place."""
        return (array_of(self.start) + index * array_of(self.delta)).astype(self.dtype)

    def __iter__(self) -> NoReturn:
        raise self._refused(" outside of a converted function")

    def __len__(self) -> int:
        raise self._refused("")

    def __jax_array__(self) -> NoReturn:
        raise self._refused("")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._refused("")

    def _refused(self, why: str) -> ControlFlowError:
        return refused(UNKNOWN_LENGTH.format(range=self, why=why))

    def __repr__(self) -> str:
        ends = ["?" if is_traced(end) else str(end) for end in (self.start, self.limit, self.delta)]
        return f"tf.range({', '.join(ends)})"


@dataclass(frozen=True, eq=False)
class Rows:
    """Arrays of equal length, of which a loop takes a row each in every turn.

    Attributes:
        arrays: them.
        tree: how the rows are one value.
    """

    arrays: list[Any]
    tree: Any

    @classmethod
    def of(cls, nest: Any) -> Rows:
        """The rows of a nest of arrays; of longer ones the first."""
        arrays, tree = jax.tree.flatten(nest)
        length = min(len(array) for array in arrays)
        return cls([jnp.asarray(array)[:length] for array in arrays], tree)

    @property
    def length(self) -> int:
        """How many there are of each."""
        return int(self.arrays[0].shape[0])

    def row(self, index: Any) -> list[Any]:
        """The row of each array at this place."""
        return [jax.lax.dynamic_index_in_dim(array, index, keepdims=False) for array in self.arrays]

    def value(self, row: list[Any]) -> Any:
        """What the loop's names are bound to, of these rows."""
        return jax.tree.unflatten(self.tree, row)


def to_turn_over(iterable: Any) -> TracedRange | Rows | None:
    """``iterable`` if a compiled loop has to turn over it; None if Python can."""
    if isinstance(iterable, TracedRange | Rows):
        return iterable
    if is_traced(iterable) and array_of(iterable).ndim > 0:
        return Rows.of(array_of(iterable))
    return None
