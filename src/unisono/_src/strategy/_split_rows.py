"""One global batch for all replicas: each takes its share of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from unisono._src.data.dataset import Dataset, DatasetSpec, TensorSpec
from unisono._src.data.plans import (
    Deferred,
    Elements,
    Nest,
    Path,
    Upstream,
    flatten,
    leaf_names,
    map_deferred,
    map_leaves,
)
from unisono._src.strategy._replicas import Replicas
from unisono._src.strategy._step import Step

_NO_ROWS: Final = """experimental_distribute_dataset: {name} has no rows to split over {number} replicas: {leaf}.
Expected batches, in every part of an element. Write dataset.batch(global_batch_size) as the last step before it."""

_UNLIKE_ROWS: Final = """experimental_distribute_dataset: parts of one batch have different numbers of rows: {found}.
Expected equally many, since row i of every part goes to the same replica. Make them equal with map or padded_batch."""


@dataclass(frozen=True)
class SplitRows(Step):
    """Replica i gets the rows [i·c, (i+1)·c) of a batch of b rows, where c = ceil(b / replicas): every batch is split
    by the rows that it has, none is padded, and the last replicas of a small batch get none."""

    replicas: Replicas

    @property
    def keeps_random_access(self) -> bool:
        return True

    def cardinality(self, upstream: int) -> int:
        return upstream

    def elements(self, upstream: Upstream, path: Path) -> Elements:
        return map_deferred(upstream.open(path), self._deferred)

    def spec(self, element_spec: Nest) -> Nest:
        if self.replicas.number > 1:
            self._check_rows(element_spec)
        return map_leaves(self._leaf_spec, element_spec)

    def global_batches(self, dataset: Dataset) -> Dataset:
        return dataset

    def __str__(self) -> str:
        return f"split over {self.replicas.number} replicas"

    def _deferred(self, element: Deferred) -> Deferred:
        return lambda: self._split(element())

    def _split(self, batch: Nest) -> Nest:
        if self.replicas.number == 1:
            return self.replicas.give([batch])
        num_rows, number = self._num_rows(batch), self.replicas.number
        share = -(-num_rows // number)
        shares = [slice(index * share, (index + 1) * share) for index in range(number)]
        if num_rows and num_rows % number == 0:
            return self.replicas.give_rows(batch, shares)
        if self.replicas.placement.spans_processes and num_rows:
            return self.replicas.give_together(batch, shares)
        return self.replicas.give([map_leaves(partial(_part, rows), batch) for rows in shares])

    def _num_rows(self, batch: Nest) -> int:
        self._check_rows(batch)
        numbers = [(name, leaf.shape[0]) for name, leaf in _named_leaves(batch)]
        if len({number for _, number in numbers}) > 1:
            found = ", ".join(f"{name} has {number}" for name, number in numbers)
            raise ValueError(_UNLIKE_ROWS.format(found=found))
        return numbers[0][1] if numbers else 0

    def _check_rows(self, nest: Nest) -> None:
        """`nest` is a batch, or the spec of one."""
        for name, leaf in _named_leaves(nest):
            if not getattr(leaf, "shape", ()):
                raise ValueError(_NO_ROWS.format(name=name, leaf=repr(leaf), number=self.replicas.number))

    def _leaf_spec(self, leaf: TensorSpec | DatasetSpec | None) -> Any:
        if not isinstance(leaf, TensorSpec) or self.replicas.number == 1:
            return self.replicas.spec(leaf)
        num_rows, *dims = leaf.shape
        share = None if num_rows is None or num_rows % self.replicas.number else num_rows // self.replicas.number
        return self.replicas.spec(TensorSpec([share, *dims], leaf.dtype))


def _part(rows: slice, leaf: Any) -> Any:
    return None if leaf is None else leaf[rows]


def _named_leaves(nest: Nest) -> list[tuple[str, Any]]:
    named = zip(leaf_names(nest, "element"), flatten(nest), strict=True)
    return [(name, leaf) for name, leaf in named if leaf is not None]
