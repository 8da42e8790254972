"""How a compiled program gets the batch of step k out of the arrays on the devices.

Readers are compared by value: two feeds with equal readers and equal shapes share one compiled program.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax


class Reader(abc.ABC):
    """A pure function from (operands, step) to a batch."""

    @abc.abstractmethod
    def read(self, operands: Any, step: Any) -> Any:
        """The batch of ``step``, which may be a traced number."""


@dataclass(frozen=True)
class StackReader(Reader):
    """Operands are (batches stacked along a new first dim, who their rows are)."""

    transform: Callable[..., Any] | None = None

    def read(self, operands: Any, step: Any) -> Any:
        batch, identity = _line(operands, step)
        return self.transform(batch, identity) if self.transform else batch


@dataclass(frozen=True)
class RowsReader(Reader):
    """Operands are (all rows of the data, row numbers of every step, who these rows are).

    ``tables`` says for each leaf of the data which column of the row numbers is its; None if there is but one.
    """

    transform: Callable[..., Any] | None = None
    tables: tuple[int, ...] | None = None

    def read(self, operands: Any, step: Any) -> Any:
        data, *numbers = operands
        rows, identity = _line(numbers, step)
        leaves, tree = jax.tree.flatten(data)
        columns = [rows] * len(leaves) if self.tables is None else [rows[:, table] for table in self.tables]
        # Row numbers are made by us and always in bounds; saying so spares a clamp and a select per element.
        taken = [leaf.at[column].get(mode="promise_in_bounds") for leaf, column in zip(leaves, columns, strict=True)]
        batch = jax.tree.unflatten(tree, taken)
        return self.transform(batch, identity) if self.transform else batch


def _line(stacks: Any, step: Any) -> Any:
    """Line ``step`` of every array."""
    return jax.tree.map(lambda stack: jax.lax.dynamic_index_in_dim(stack, step, keepdims=False), stacks)
