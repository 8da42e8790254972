"""Elements that are batches of one replica: they are dealt out like cards, one to each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from unisono.data import Dataset, DatasetSpec, TensorSpec
from unisono.plans import Deferred, Elements, Join, Nest, Path, State, Upstream, map_leaves
from unisono.strategy._replicas import Replicas
from unisono.strategy._step import Step


@dataclass(frozen=True)
class Deal(Step):
    """Successive elements go to successive replicas. Where the last ones do not suffice for all replicas, the others
    get batches without rows; if elements have a fixed shape, which these would not have, that step is left out."""

    replicas: Replicas
    has_fixed_shapes: Callable[[], bool]
    """Only asked where the last step is short: the answer may need an element."""

    @property
    def keeps_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        return upstream if upstream < 0 else -(-upstream // self.replicas.number)

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return _Dealt(upstream.open(path), self)

    def spec(self, element_spec: Nest) -> Nest:
        return map_leaves(self._leaf_spec, element_spec)

    def global_batches(self, dataset: Dataset) -> Dataset:
        return dataset.then(Join(self.replicas.number))

    def __str__(self) -> str:
        return f"deal to {self.replicas.number} replicas"

    def _leaf_spec(self, leaf: TensorSpec | DatasetSpec | None) -> Any:
        if isinstance(leaf, DatasetSpec) and self.replicas.number > 1:
            raise ValueError(
                f"distribute_datasets_from_function: the elements hold datasets, {leaf}, and expected are arrays. "
                f"Write flat_map(lambda window: window.batch(n)) after window(n)."
            )
        return self.replicas.spec(leaf)


class _Dealt(Elements):
    def __init__(self, upstream: Elements, deal: Deal) -> None:
        self._upstream, self._deal = upstream, deal

    def __next__(self) -> Deferred:
        number = self._deal.replicas.number
        group = list(islice(self._upstream, number))
        if not group or (len(group) < number and self._deal.has_fixed_shapes()):
            raise StopIteration
        return lambda: self._step(group)

    def _step(self, group: list[Deferred]) -> Nest:
        replicas = self._deal.replicas
        values = [element() for element in group]
        empty = [map_leaves(_without_rows, values[0])] * (replicas.number - len(values))
        return replicas.give([*values, *empty])

    def get_state(self) -> State:
        return self._upstream.get_state()

    def set_state(self, state: State) -> None:
        self._upstream.set_state(state)

    def close(self) -> None:
        self._upstream.close()


def _without_rows(leaf: Any) -> Any:
    """A number has no rows to leave out: beside batches it is 0, as in TensorFlow."""
    if leaf is None:
        return None
    return leaf[:0] if leaf.ndim else np.zeros_like(leaf)
