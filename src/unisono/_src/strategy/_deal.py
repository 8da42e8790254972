"""Elements that are batches of one replica: they are dealt out like cards, one to each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from unisono._src.data.dataset import Dataset, DatasetSpec, TensorSpec
from unisono._src.data.plans import (
    ConcatenateBatches,
    Deferred,
    Elements,
    Nest,
    Path,
    StatelessElements,
    Upstream,
    map_leaves,
)
from unisono._src.strategy._replicas import Replicas
from unisono._src.strategy._step import Step


@dataclass(frozen=True)
class Deal(Step):
    """Successive elements go to successive replicas. Where the last ones do not suffice for all replicas, the others
    get batches without rows; if elements have a fixed shape, which these would not have, that step is left out."""

    replicas: Replicas
    has_fixed_shapes: Callable[[], bool]
    """Only asked where the last step is short: the answer may need an element."""

    @property
    def keeps_random_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        return upstream if upstream < 0 else -(-upstream // self.replicas.number)

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return StatelessElements(upstream.open(path), self._next_step)

    def spec(self, element_spec: Nest) -> Nest:
        return map_leaves(self._leaf_spec, element_spec)

    def global_batches(self, dataset: Dataset) -> Dataset:
        return dataset.then(ConcatenateBatches(self.replicas.number))

    def __str__(self) -> str:
        return f"deal to {self.replicas.number} replicas"

    def _next_step(self, elements: Elements) -> Deferred:
        number = len(self.replicas.local)
        group = list(islice(elements, number))
        if not group or (len(group) < number and self.has_fixed_shapes()):
            raise StopIteration
        return partial(self._dealt, group)

    def _dealt(self, group: list[Deferred]) -> Nest:
        values = [element() for element in group]
        empty = [map_leaves(_without_rows, values[0])] * (len(self.replicas.local) - len(values))
        return self.replicas.give([*values, *empty])

    def _leaf_spec(self, leaf: TensorSpec | DatasetSpec | None) -> Any:
        if isinstance(leaf, DatasetSpec) and self.replicas.number > 1:
            raise ValueError(
                f"distribute_datasets_from_function: the elements hold datasets, {leaf}, and expected are arrays. "
                f"Write flat_map(lambda window: window.batch(n)) after window(n)."
            )
        return self.replicas.spec(leaf)


def _without_rows(leaf: Any) -> Any:
    """A number has no rows to leave out: beside batches it is 0, as in TensorFlow."""
    if leaf is None:
        return None
    return leaf[:0] if leaf.ndim else np.zeros_like(leaf)
