"""map: a function of each element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unisono.plans._nest import Nest, map_leaves
from unisono.plans._operation import Deferred, Operation, Path, Upstream


@dataclass(frozen=True)
class Map(Operation):
    """`function` applied to each element; a tuple is spread over its arguments."""

    function: Callable[..., Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(
                f"map: expected a function of one element, got {self.function!r} "
                f"({type(self.function).__name__}). Write map(scale), not map(scale(x)), or a lambda."
            )

    def cardinality(self, upstream: int) -> int:
        return upstream

    def elements(self, upstream: Upstream, path: Path) -> Iterator[Deferred]:
        for element in upstream.elements(path):
            yield partial(self._mapped, element)

    def _mapped(self, element: Deferred) -> Nest:
        return map_leaves(self._as_array, apply(self.function, element()))

    def _as_array(self, leaf: Any) -> Any:
        if leaf is None:
            return None
        array = np.asarray(leaf)
        if array.dtype.hasobject:
            raise TypeError(
                f"{self} returned {leaf!r} ({type(leaf).__name__}), which is not an array. Expected arrays, "
                f"numbers or strings, alone or in tuples, lists and dicts."
            )
        return array

    def __str__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"map({name.strip('<>')})"


def apply(function: Callable[..., Any], element: Nest) -> Nest:
    """Calls `function` on one element as tf.data does: `(x, y)` gives two arguments, all else one.

    A namedtuple is one argument: its names would be lost otherwise.
    """
    return function(*element) if type(element) is tuple else function(element)
