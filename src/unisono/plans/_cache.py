"""cache: elements computed once and kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from unisono.plans._cardinality import INFINITE_CARDINALITY
from unisono.plans._nest import Nest, map_leaves
from unisono.plans._operation import Deferred, Operation, Path, Upstream

FIRST_PASS: Path = (0,)


@dataclass(eq=False)
class Memory:
    """The one mutable thing in a plan: elements by their place in the first pass."""

    elements: dict[int, Nest] = field(default_factory=dict)
    size: int | None = None
    """The number of elements in a pass, once a pass has been seen to its end."""


@dataclass(frozen=True, eq=False)
class Cache(Operation):
    """Every pass gives the first pass's elements, each computed once.

    tf.data keeps whichever pass was first completed. Here it is always pass 0, so the order after
    `shuffle().cache()` does not depend on a loop that somebody left early. What never ends is not kept:
    memory would not end either.

    The memory belongs to the operation object: an object serves one place in one plan (and all plans that
    begin with it).
    """

    memory: Memory = field(default_factory=Memory, repr=False)

    def cardinality(self, upstream: int) -> int:
        return upstream

    def elements(self, upstream: Upstream, path: Path) -> Iterator[Deferred]:
        memory = self.memory
        if upstream.cardinality == INFINITE_CARDINALITY:
            yield from upstream.elements(path)
        elif memory.size is not None and len(memory.elements) == memory.size:
            for index in range(memory.size):
                yield partial(memory.elements.__getitem__, index)
        else:
            index = -1
            for index, element in enumerate(upstream.elements(FIRST_PASS)):
                yield partial(self._kept, index, element)
            memory.size = index + 1

    def _kept(self, index: int, element: Deferred) -> Nest:
        elements = self.memory.elements
        if index not in elements:
            elements[index] = map_leaves(_read_only, element())
        return elements[index]

    def __str__(self) -> str:
        return "cache()"


def _read_only(leaf: np.ndarray[Any, Any] | None) -> np.ndarray[Any, Any] | None:
    if leaf is None:
        return None
    view = leaf.view()  # the array itself may be one that the map function keeps for other uses
    view.flags.writeable = False
    return view
