"""A dataset as data: where the elements come from and what is done to them, in order."""

from __future__ import annotations

from dataclasses import dataclass

from unisono.plans._operation import Operation
from unisono.plans._source import Source


@dataclass(frozen=True, eq=False)
class Plan:
    """A source and the operations on its elements. Nothing here has a position: executors do.

    >>> import numpy as np
    >>> from unisono.plans import ArraySlices, Batch, Plan, Shuffle
    >>> plan = Plan(ArraySlices(np.arange(10))).then(Shuffle(10)).then(Batch(4))
    >>> print(plan, plan.cardinality)
    10 rows -> shuffle(10) -> batch(4) 3
    """

    source: Source
    operations: tuple[Operation, ...] = ()

    def then(self, operation: Operation) -> Plan:
        """This plan with one more operation at its end."""
        return Plan(self.source, (*self.operations, operation))

    @property
    def cardinality(self) -> int:
        """The number of elements in one pass, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        number = self.source.cardinality
        for operation in self.operations:
            number = operation.cardinality(number)
        return number

    def __str__(self) -> str:
        return " -> ".join(map(str, (self.source, *self.operations)))
