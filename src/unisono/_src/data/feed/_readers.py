"""How a compiled program reads the batch of step k from the arrays on the devices, and how many it can hold.

Readers are compared by value: two feeds with equal readers and equal shapes share one compiled program.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import jax


class Reader(abc.ABC):
    """A pure function from (operands, step) to a batch."""

    @abc.abstractmethod
    def read(self, operands: Any, step: Any) -> Any:
        """The batch of ``step``, which may be a traced number."""


@dataclass(frozen=True)
class StackReader(Reader):
    """Operands are (batches stacked along a new first dim, the identities of their rows)."""

    transform: Callable[..., Any] | None = None

    def read(self, operands: Any, step: Any) -> Any:
        batch, identity = _read_line(operands, step)
        return self.transform(batch, identity) if self.transform else batch


@dataclass(frozen=True)
class RowsReader(Reader):
    """Operands are (all rows of the data, row numbers of every step, the identities of these rows).

    ``tables`` says for each leaf of the data which column of the row numbers addresses it; None if there is only one.
    """

    transform: Callable[..., Any] | None = None
    tables: tuple[int, ...] | None = None

    def read(self, operands: Any, step: Any) -> Any:
        data, *numbers = operands
        rows, identity = _read_line(numbers, step)
        leaves, tree = jax.tree.flatten(data)
        columns = [rows] * len(leaves) if self.tables is None else [rows[:, table] for table in self.tables]
        # Row numbers are always in bounds; saying so saves a clamp and a select per element.
        gathered = [leaf.at[column].get(mode="promise_in_bounds") for leaf, column in zip(leaves, columns, strict=True)]
        batch = jax.tree.unflatten(tree, gathered)
        return self.transform(batch, identity) if self.transform else batch


def _read_line(stacks: Any, step: Any) -> Any:
    """Line ``step`` of every array."""
    return jax.tree.map(lambda stack: jax.lax.dynamic_index_in_dim(stack, step, keepdims=False), stacks)


# Enough to make a transfer and a call worthwhile, little enough to be ready soon and to fit beside any model.
_MAX_STACK_BYTES: Final = 8 * 2**20
_MAX_STACK_BATCHES: Final = 32


def batches_per_stack(batch_spec: Any) -> int:
    """The number of batches of this shape in one stack. Depends on the shape alone, never on a clock."""
    num_bytes: int = sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(batch_spec))
    return max(1, min(_MAX_STACK_BATCHES, _MAX_STACK_BYTES // max(1, num_bytes)))
