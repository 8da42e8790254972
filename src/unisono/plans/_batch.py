"""batch: consecutive elements stacked into one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from unisono.plans._nest import Nest, flatten, leaf_names, structure, unflatten
from unisono.plans._operation import Deferred, Operation, Path, Upstream
from unisono.plans._whole_number import whole_number


@dataclass(frozen=True)
class Batch(Operation):
    """`batch_size` elements at a time; the last batch may be smaller unless `drop_remainder`."""

    batch_size: int
    drop_remainder: bool = False

    def __post_init__(self) -> None:
        size = whole_number(self.batch_size, "batch", "batch_size")
        if size < 1:
            raise ValueError(f"batch: batch_size must be at least 1, but it is {size}. Write batch(32), say.")
        object.__setattr__(self, "batch_size", size)

    def cardinality(self, upstream: int) -> int:
        if upstream < 0:
            return upstream
        return upstream // self.batch_size if self.drop_remainder else -(-upstream // self.batch_size)

    def elements(self, upstream: Upstream, path: Path) -> Iterator[Deferred]:
        elements = upstream.elements(path)
        while group := list(islice(elements, self.batch_size)):
            if len(group) == self.batch_size or not self.drop_remainder:
                yield partial(self._stacked, group)

    def _stacked(self, group: list[Deferred]) -> Nest:
        elements = [element() for element in group]
        first = structure(elements[0])
        for element in elements:
            if structure(element) != first:
                raise ValueError(
                    f"{self}: elements of different structure cannot be stacked: {first} and "
                    f"{structure(element)}. The map before it must return the same tuple or dict for all."
                )
        columns = zip(*map(flatten, elements), strict=True)
        names = leaf_names(elements[0], "element")
        return unflatten(elements[0], map(self._stack, columns, names))

    def _stack(self, leaves: tuple[Any, ...], name: str) -> Any:
        if all(leaf is None for leaf in leaves):
            return None
        shapes = {None if leaf is None else leaf.shape for leaf in leaves}
        if len(shapes) > 1:
            one, other, *_ = sorted(map(str, shapes))
            raise ValueError(
                f"{self}: {name} has shape {one} in one row and {other} in another. A batch needs one shape: "
                f"pad or resize with map(...) before batch(...)."
            )
        return np.stack(leaves)

    def __str__(self) -> str:
        return f"batch({self.batch_size}{', drop_remainder=True' if self.drop_remainder else ''})"
