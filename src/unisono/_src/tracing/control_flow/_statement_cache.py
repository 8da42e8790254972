"""A cache for what a rewriter makes of a statement."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class HasCache(Protocol):
    """An object whose results are cached by the method and the identity of the statement."""

    cache: dict[tuple[str, int], Any]


_Self = TypeVar("_Self", bound=HasCache)
_Statement = TypeVar("_Statement", bound=ast.stmt)
_More = ParamSpec("_More")
_Result = TypeVar("_Result")
_Method = Callable[Concatenate[_Self, _Statement, _More], _Result]


def cached_by_statement(
    method: _Method[_Self, _Statement, _More, _Result],
) -> _Method[_Self, _Statement, _More, _Result]:
    """Caches a method by its statement. Its other arguments must be the same for the same statement.

    A statement at nesting depth k is needed in both forms of each level: without the cache it would be made 2**k times.
    """

    @functools.wraps(method)
    def cached(self: _Self, node: _Statement, /, *args: _More.args, **kwargs: _More.kwargs) -> _Result:
        key = (method.__name__, id(node))
        if key not in self.cache:
            self.cache[key] = method(self, node, *args, **kwargs)
        result: _Result = self.cache[key]
        return result

    return cached
