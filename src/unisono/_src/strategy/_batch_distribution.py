"""The last operation in the plan of a distributed dataset: from elements to steps with a value for each replica."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, Final

import numpy as np

from unisono._src.data.dataset import Dataset, DatasetSpec, TensorSpec
from unisono._src.data.plans import (
    ConcatenateBatches,
    Deferred,
    Elements,
    Nest,
    Operation,
    PassId,
    StatelessElements,
    Upstream,
    flatten,
    leaf_names,
    map_deferred,
    map_leaves,
)
from unisono._src.strategy._replica_sender import ReplicaSender

_NO_ROWS: Final = """experimental_distribute_dataset: {name} has no rows to split over {number} replicas: {leaf}.
Expected batches, in every part of an element. Write dataset.batch(global_batch_size) as the last step before it."""

_UNEQUAL_ROWS: Final = """experimental_distribute_dataset: parts of one batch have different numbers of rows: {found}.
Expected equally many, since row i of every part goes to the same replica. Make them equal with map or padded_batch."""


class BatchDistribution(Operation):
    """An operation whose elements hold a value for each replica."""

    keeps_random_access = True

    @abstractmethod
    def spec(self, element_spec: Nest) -> Nest:
        """The spec of a step; an error if elements of this spec cannot be distributed."""

    @abstractmethod
    def global_batches(self, dataset: Dataset) -> Dataset:
        """The same steps as global batches, for training that splits them itself."""


@dataclass(frozen=True)
class SplitRows(BatchDistribution):
    """Replica i gets the rows [i·c, (i+1)·c) of a batch of b rows, where c = ceil(b / replicas): every batch is split
    by the rows that it has, none is padded, and the last replicas of a small batch get none."""

    replicas: ReplicaSender

    def cardinality(self, upstream: int) -> int:
        return upstream

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return map_deferred(upstream.open(pass_id), self._split_deferred)

    def spec(self, element_spec: Nest) -> Nest:
        if self.replicas.num_replicas > 1:
            self._check_rows(element_spec)
        return map_leaves(self._leaf_spec, element_spec)

    def global_batches(self, dataset: Dataset) -> Dataset:
        return dataset

    def __str__(self) -> str:
        return f"split over {self.replicas.num_replicas} replicas"

    @property
    def can_send_groups(self) -> bool:
        """Not where other processes have some of the devices: all of them would have to take a group apart at the same
        moment. On CPUs nothing is gained: sending is a matter of pointers, and the program has to be compiled."""
        placement = self.replicas.placement
        return not placement.spans_processes and placement.platform != "cpu"

    def send_group(self, batches: Sequence[Nest]) -> list[Nest] | None:
        """:meth:`send` for several batches of equal shapes in one call; None if it has to be done one by one."""
        num_replicas = self.replicas.num_replicas
        if num_replicas > 1 and (not self._num_rows(batches[0]) or self._num_rows(batches[0]) % num_replicas):
            return None
        return self.replicas.send_group(batches)

    def _split_deferred(self, element: Deferred) -> Deferred:
        return lambda: self.send(element())

    def send(self, batch: Nest) -> Nest:
        """The rows of a batch on the devices of the replicas."""
        num_replicas = self.replicas.num_replicas
        if num_replicas == 1:
            return self.replicas.send([batch])
        num_rows = self._num_rows(batch)
        share = -(-num_rows // num_replicas)
        slices = [slice(index * share, (index + 1) * share) for index in range(num_replicas)]
        if num_rows % num_replicas == 0:
            return self.replicas.send_rows(batch, slices)
        if self.replicas.placement.spans_processes:
            return self.replicas.send_unsplit(batch, slices)
        return self.replicas.send([map_leaves(partial(_take_rows, rows), batch) for rows in slices])

    def _num_rows(self, batch: Nest) -> int:
        self._check_rows(batch)
        counts = [(name, leaf.shape[0]) for name, leaf in _named_leaves(batch)]
        if len({count for _, count in counts}) > 1:
            found = ", ".join(f"{name} has {count}" for name, count in counts)
            raise ValueError(_UNEQUAL_ROWS.format(found=found))
        return counts[0][1] if counts else 0

    def _check_rows(self, nest: Nest) -> None:
        """`nest` is a batch, or the spec of one."""
        for name, leaf in _named_leaves(nest):
            if not getattr(leaf, "shape", ()):
                raise ValueError(_NO_ROWS.format(name=name, leaf=repr(leaf), number=self.replicas.num_replicas))

    def _leaf_spec(self, leaf: TensorSpec | DatasetSpec | None) -> Any:
        num_replicas = self.replicas.num_replicas
        if not isinstance(leaf, TensorSpec) or num_replicas == 1:
            return self.replicas.spec(leaf)
        num_rows, *dims = leaf.shape
        share = None if num_rows is None or num_rows % num_replicas else num_rows // num_replicas
        return self.replicas.spec(TensorSpec([share, *dims], leaf.dtype))


@dataclass(frozen=True)
class AssignBatches(BatchDistribution):
    """Successive elements, batches of one replica, go to successive replicas. Where the last ones do not suffice for
    all replicas, the remaining replicas get batches without rows; if elements have a fixed shape, which such batches
    would not have, that step is left out."""

    replicas: ReplicaSender
    has_fixed_shapes: Callable[[], bool]
    """Only called where the last step is short: the answer may need an element."""

    def cardinality(self, upstream: int) -> int:
        return upstream if upstream < 0 else -(-upstream // self.replicas.num_replicas)

    def elements(self, upstream: Upstream, pass_id: PassId) -> Elements:
        return StatelessElements(upstream.open(pass_id), self._next_step)

    def spec(self, element_spec: Nest) -> Nest:
        return map_leaves(self._leaf_spec, element_spec)

    def global_batches(self, dataset: Dataset) -> Dataset:
        return dataset._then(ConcatenateBatches(self.replicas.num_replicas))

    def __str__(self) -> str:
        return f"assign to {self.replicas.num_replicas} replicas"

    def _next_step(self, elements: Elements) -> Deferred:
        num_local = len(self.replicas.local_replicas)
        group = list(islice(elements, num_local))
        if not group or (len(group) < num_local and self.has_fixed_shapes()):
            raise StopIteration
        return partial(self._assign, group)

    def _assign(self, group: list[Deferred]) -> Nest:
        values = [element() for element in group]
        missing = len(self.replicas.local_replicas) - len(values)
        return self.replicas.send([*values, *[map_leaves(_drop_rows, values[0])] * missing])

    def _leaf_spec(self, leaf: TensorSpec | DatasetSpec | None) -> Any:
        if isinstance(leaf, DatasetSpec) and self.replicas.num_replicas > 1:
            raise ValueError(
                f"distribute_datasets_from_function: the elements hold datasets, {leaf}, and expected are arrays. "
                f"Write flat_map(lambda window: window.batch(n)) after window(n)."
            )
        return self.replicas.spec(leaf)


def _take_rows(rows: slice, leaf: Any) -> Any:
    return None if leaf is None else leaf[rows]


def _drop_rows(leaf: Any) -> Any:
    """A number has no rows to drop: beside batches it is 0, as in TensorFlow."""
    if leaf is None:
        return None
    return leaf[:0] if leaf.ndim else np.zeros_like(leaf)


def _named_leaves(nest: Nest) -> list[tuple[str, Any]]:
    named = zip(leaf_names(nest, "element"), flatten(nest), strict=True)
    return [(name, leaf) for name, leaf in named if leaf is not None]
