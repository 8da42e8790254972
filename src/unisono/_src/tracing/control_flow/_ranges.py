"""What a loop of the program can iterate over: rows of arrays, and ranges whose length is known only at run time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import jax
import jax.numpy as jnp

from unisono._src.tracing.control_flow._errors import ControlFlowError, make_error
from unisono._src.tracing.control_flow._traced_values import as_array, is_traced

UNKNOWN_LENGTH = """The length of {range} is known only when the program runs, so it is no array and Python cannot
iterate over it{why}. Inside a tf.function write
    for i in tf.range(n):
and for an array of numbers pass the length as a Python number:
    tf.range(10)"""


@dataclass(frozen=True, eq=False)
class TracedRange:
    """The numbers from ``start`` up to ``limit`` in steps of ``delta``, some of which are known only later.

    A `for` in a converted function iterates over it. It is no array, since arrays have a length.
    """

    start: Any
    limit: Any
    delta: Any = 1

    @property
    def dtype(self) -> Any:
        """The dtype of the numbers."""
        return jnp.result_type(*map(as_array, (self.start, self.limit, self.delta)))

    @property
    def count(self) -> Any:
        """How many there are, as an array."""
        start, limit, delta = (jnp.asarray(as_array(end)) for end in (self.start, self.limit, self.delta))
        if jnp.issubdtype(self.dtype, jnp.integer):
            count = (limit - start + delta - jnp.sign(delta)) // delta
        else:
            count = jnp.ceil((limit - start) / delta)
        return jnp.maximum(count, 0).astype("int32")

    def number(self, index: Any) -> Any:
        """The number with this index."""
        return (as_array(self.start) + index * as_array(self.delta)).astype(self.dtype)

    def __iter__(self) -> NoReturn:
        raise self._make_error(" outside a converted function")

    def __len__(self) -> int:
        raise self._make_error("")

    def __jax_array__(self) -> NoReturn:
        raise self._make_error("")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._make_error("")

    def _make_error(self, why: str) -> ControlFlowError:
        return make_error(UNKNOWN_LENGTH.format(range=self, why=why))

    def __repr__(self) -> str:
        ends = ["?" if is_traced(end) else str(end) for end in (self.start, self.limit, self.delta)]
        return f"tf.range({', '.join(ends)})"


@dataclass(frozen=True, eq=False)
class TracedRows:
    """Arrays of equal length, of which a loop takes a row each in every iteration.

    Attributes:
        arrays: the arrays.
        tree: the structure of the value that the rows make.
    """

    arrays: list[Any]
    tree: Any

    @classmethod
    def from_arrays(cls, structure: Any) -> TracedRows:
        """The rows of a nested structure of arrays; longer ones are cut."""
        arrays, tree = jax.tree.flatten(structure)
        length = min(len(array) for array in arrays)
        return cls([jnp.asarray(array)[:length] for array in arrays], tree)

    @property
    def length(self) -> int:
        """The number of rows."""
        return int(self.arrays[0].shape[0])

    def row(self, index: Any) -> list[Any]:
        """The row of each array with this index."""
        return [jax.lax.dynamic_index_in_dim(array, index, keepdims=False) for array in self.arrays]

    def value(self, row: list[Any]) -> Any:
        """The value to which the loop binds its names, from these rows."""
        return jax.tree.unflatten(self.tree, row)


def as_traced_iterable(iterable: Any) -> TracedRange | TracedRows | None:
    """``iterable`` if a loop over it has to be a part of the program; None if Python can run it."""
    if isinstance(iterable, TracedRange | TracedRows):
        return iterable
    if is_traced(iterable) and as_array(iterable).ndim > 0:
        return TracedRows.from_arrays(as_array(iterable))
    return None
