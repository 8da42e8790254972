"""What is made of a statement once, however often it is asked for."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Maker(Protocol):
    """Keeps what it made, by the method and the identity of the statement."""

    made: dict[tuple[str, int], Any]


_Self = TypeVar("_Self", bound=Maker)
_Statement = TypeVar("_Statement", bound=ast.stmt)
_More = ParamSpec("_More")
_Made = TypeVar("_Made")
_Method = Callable[Concatenate[_Self, _Statement, _More], _Made]


def once(method: _Method[_Self, _Statement, _More, _Made]) -> _Method[_Self, _Statement, _More, _Made]:
    """A method that makes something of a statement, always with the same other arguments.

    A statement inside of k others is wanted in both forms of each: made anew, that would be k times and more.
    """

    @functools.wraps(method)
    def kept(self: _Self, node: _Statement, /, *args: _More.args, **kwargs: _More.kwargs) -> _Made:
        key = (method.__name__, id(node))
        if key not in self.made:
            self.made[key] = method(self, node, *args, **kwargs)
        made: _Made = self.made[key]
        return made

    return kept
