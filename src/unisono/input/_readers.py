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
    """Operands are batches stacked along a new first dim."""

    transform: Callable[[Any], Any] | None = None

    def read(self, operands: Any, step: Any) -> Any:
        batch = jax.tree.map(lambda stack: jax.lax.dynamic_index_in_dim(stack, step, keepdims=False), operands)
        return self.transform(batch) if self.transform else batch


@dataclass(frozen=True)
class RowsReader(Reader):
    """Operands are (all rows of the data, row numbers of every step)."""

    transform: Callable[[Any], Any] | None = None

    def read(self, operands: Any, step: Any) -> Any:
        data, row_numbers = operands
        rows = jax.lax.dynamic_index_in_dim(row_numbers, step, keepdims=False)
        # Row numbers are made by us and always in bounds; saying so spares a clamp and a select per element.
        batch = jax.tree.map(lambda array: array.at[rows].get(mode="promise_in_bounds"), data)
        return self.transform(batch) if self.transform else batch
