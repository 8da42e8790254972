"""join: consecutive batches as one. Not a method of users: what `fit` makes of batches meant for single replicas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.data.plans._batch import group_elements, num_batches, stack_elements
from unisono._src.data.plans._operation import Elements, Operation, Path, Upstream


@dataclass(frozen=True)
class ConcatenateBatches(Operation):
    """The rows of `number` elements at a time, in one batch."""

    number: int

    @property
    def keeps_random_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        return num_batches(upstream, self.number, drop_remainder=False)

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return group_elements(
            upstream.open(path), self.number, False, lambda group: stack_elements(group, self, self._rows)
        )

    def _rows(self, leaves: tuple[Any, ...], name: str) -> Any:
        if any(leaf.ndim == 0 for leaf in leaves):
            raise ValueError(f"{self}: {name} has no rows to join. Batch the dataset that the function returns.")
        return np.concatenate(leaves)

    def __str__(self) -> str:
        return f"join({self.number})"
