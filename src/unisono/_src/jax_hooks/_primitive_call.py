"""An operation of JAX with its parameters, as a value: it can be called, compared and hashed."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr

from unisono._src import hooks

_WHY: Final = "a tape records what jitted functions and loops compute"
_JITTED: Final = hooks.require_primitives(("jit", "pjit"), why=_WHY)
_SCANS: Final = hooks.require_primitives("scan", why=_WHY)


class PrimitiveCall:
    """An operation with its parameters: carried out when called, equal to another one that does the same."""

    __slots__ = ("_params", "_primitive")

    def __init__(self, primitive: Any, params: dict[str, Any]) -> None:
        self._primitive, self._params = primitive, params

    @property
    def name(self) -> str:
        """What JAX calls the operation."""
        return str(self._primitive.name)

    @property
    def jaxprs(self) -> list[Any]:
        """The programs in its parameters: a loop's body, a jitted function."""
        return list(_jaxprs_in(self._params))

    @property
    def is_jitted(self) -> bool:
        """Whether it is the call of a jitted function."""
        return self.name in _JITTED

    @property
    def array_constants(self) -> list[jax.Array]:
        """The arrays that jitted functions in it have as constants."""
        return [constant for jaxpr in self.jaxprs for constant in _contents_of(jaxpr).constants]

    @property
    def has_scan(self) -> bool:
        """Whether it is a `scan`, or has one in it."""
        return self.name in _SCANS or any(_contents_of(jaxpr).scans for jaxpr in self.jaxprs)

    def __call__(self, *arguments: Any) -> list[Any]:
        results = self._primitive.bind(*arguments, **self._params)
        return list(results) if self._primitive.multiple_results else [results]

    def __hash__(self) -> int:
        return hash((self._primitive, *self._params.values()))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, PrimitiveCall) and self._primitive is other._primitive and self._params == other._params
        )


class _Contents(NamedTuple):
    """What must be known about a program: arrays that jitted functions hold as constants, and whether it scans."""

    constants: list[jax.Array]
    scans: bool


_contents: weakref.WeakKeyDictionary[Any, _Contents] = weakref.WeakKeyDictionary()


def _contents_of(jaxpr: Any) -> _Contents:
    found = _contents.get(jaxpr)
    if found is None:
        constants = [constant for constant in getattr(jaxpr, "consts", ()) if isinstance(constant, jax.Array)]
        inner = [_contents_of(program) for equation in jaxpr.eqns for program in _jaxprs_in(equation.params)]
        constants += [constant for contents in inner for constant in contents.constants]
        scans = any(equation.primitive.name in _SCANS for equation in jaxpr.eqns)
        found = _contents[jaxpr] = _Contents(constants, scans or any(contents.scans for contents in inner))
    return found


def _jaxprs_in(params: dict[str, Any]) -> Iterator[Any]:
    for value in params.values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, (Jaxpr, ClosedJaxpr)):
                yield part
