"""Maps of one part of an element: what a map becomes when its plan is zipped with other plans."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from unisono._src.data.plans._arguments import function_name
from unisono._src.data.plans._nest import Nest, apply, is_leaf


@dataclass(frozen=True, eq=False)
class BranchMap:
    """`function` of branch `index`, in an element that has a branch for each leaf of `like`.

    >>> BranchMap(("a", "b"), 1, lambda x: x + 1)(10, 20)
    (10, 21)
    """

    like: Nest
    index: int
    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Nest:
        element = arguments if type(self.like) is tuple else arguments[0]
        return self._apply(self.like, element, itertools.count())

    def _apply(self, like: Nest, element: Nest, numbers: Iterator[int]) -> Nest:
        if is_leaf(like):
            return apply(self.function, element) if next(numbers) == self.index else element
        if isinstance(like, dict):
            return {key: self._apply(like[key], element[key], numbers) for key in sorted(like)}
        children = [self._apply(part, child, numbers) for part, child in zip(like, element, strict=True)]
        return type(like)(*children) if hasattr(like, "_fields") else type(like)(children)

    @property
    def __name__(self) -> str:
        return function_name(self.function)
