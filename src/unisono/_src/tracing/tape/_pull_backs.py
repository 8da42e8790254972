"""How an operation is done so that there is a way back: its results, and a function from their cotangents to its own.

While a program is traced, `jax.vjp` does it, and leaves in the program what `jax.grad` would leave there. Where
operations are carried out one by one, tracing each of them anew would take most of the time, so the pair of operation
and way back is compiled and kept: an eager step of a small model takes a third of the time.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import jax

from unisono._src import jax_hooks

REFUSED = """There is no gradient through the operation {name!r} that lies between the target and a source.
JAX says: {reason}
Write it with operations that have one, give it one (jax.custom_vjp), or put jax.lax.stop_gradient before it."""

_MOST_KEPT: Final = 1024
_CANNOT: Final = (NotImplementedError, TypeError, ValueError)
"""What JAX raises for an operation that it cannot differentiate."""


class Outcome(NamedTuple):
    """An operation that was done.

    Attributes:
        results: what it returned.
        connected: for each result, whether it depends on the arguments that were asked for.
        pull_back: from cotangents of the results to those of these arguments.
    """

    results: list[Any]
    connected: list[bool]
    pull_back: Callable[[list[Any]], Sequence[Any]]


def differentiated(
    call: Callable[..., list[Any]], arguments: Sequence[Any], indices: tuple[int, ...], evaluating: bool
) -> Outcome:
    """Does ``call(*arguments)`` so that cotangents can be pulled back to the arguments at ``indices``.

    ``evaluating`` says that it is carried out now, not traced. An operation without a gradient is an error only when
    its gradient is asked for: much of what is done under a tape, as for a metric, leads to no target.
    """
    if not isinstance(call, jax_hooks.PrimitiveCall):
        return _traced(call, arguments, indices)
    try:
        compiled = _compiled_pair(call, indices) if evaluating else None
        outcome = _traced(call, arguments, indices) if compiled is None else compiled(arguments)
    except _CANNOT as error:
        results = call(*arguments)
        return Outcome(results, [True] * len(results), functools.partial(_refuse, call.name, error))
    return outcome._replace(pull_back=functools.partial(_pulled_back, call.name, outcome.pull_back))


def _traced(call: Callable[..., list[Any]], arguments: Sequence[Any], indices: tuple[int, ...]) -> Outcome:
    def of_varied(*varied: Any) -> list[Any]:
        every = list(arguments)
        for index, value in zip(indices, varied, strict=True):
            every[index] = value
        return list(call(*every))

    results, pull_back = jax.vjp(of_varied, *(arguments[index] for index in indices))
    return Outcome(results, [not alone for alone in jax_hooks.find_unconnected(pull_back)], pull_back)


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["residuals"],
    meta_fields=["connected", "tree", "origins"],
)
@dataclass(frozen=True)
class _Kept:
    """A way back, as a compiled program can return it.

    What is an argument or a result as well is not returned twice, it would be a copy: ``origins`` says which it is.
    """

    residuals: list[Any]
    connected: tuple[bool, ...]
    tree: Any
    origins: tuple[int | None, ...]

    @classmethod
    def of(cls, outcome: Outcome, arguments: Sequence[Any]) -> _Kept:
        leaves, tree = jax.tree.flatten(outcome.pull_back)
        where = {id(value): index for index, value in enumerate([*arguments, *outcome.results])}
        origins = tuple(where.get(id(leaf)) for leaf in leaves)
        residuals = [leaf for leaf, origin in zip(leaves, origins, strict=True) if origin is None]
        return cls(residuals, tuple(outcome.connected), tree, origins)

    def pull_back(self, arguments: Sequence[Any], results: list[Any]) -> Any:
        """The way back, once more."""
        residuals, every = iter(self.residuals), [*arguments, *results]
        return self.tree.unflatten(next(residuals) if origin is None else every[origin] for origin in self.origins)


class _CompiledPair:
    """An operation and its way back, compiled when they are first used with arrays of some shape and dtype."""

    def __init__(self, call: jax_hooks.PrimitiveCall, indices: tuple[int, ...]) -> None:
        def forward(arguments: list[Any]) -> tuple[list[Any], _Kept]:
            outcome = _traced(call, arguments, indices)
            return outcome.results, _Kept.of(outcome, arguments)

        self._forward = jax.jit(forward)
        self._backward = jax.jit(lambda pull_back, cotangents: pull_back(cotangents))

    def __call__(self, arguments: Sequence[Any]) -> Outcome:
        results, kept = self._forward(list(arguments))
        pull_back = functools.partial(self._backward, kept.pull_back(arguments, results))
        return Outcome(results, list(kept.connected), pull_back)


_seen: weakref.WeakSet[Any] = weakref.WeakSet()


def _compiled_pair(call: jax_hooks.PrimitiveCall, indices: tuple[int, ...]) -> _CompiledPair | None:
    """The pair to be used for ``call``; None if it would be used this once.

    That is so for loops and branches, whose body is a program that is traced anew each time. Programs are known by
    identity, so one that is seen a second time will come again. Jitted functions keep theirs; what holds arrays is not
    kept, since they would be too.
    """
    if call.has_array_constants:
        return None
    try:
        new = [] if call.name == "jit" else [jaxpr for jaxpr in call.jaxprs if jaxpr not in _seen]
        _seen.update(new)
        return None if new else _cached_pair(call, indices)
    except TypeError:  # a parameter that has no hash
        return None


@functools.lru_cache(_MOST_KEPT)
def _cached_pair(call: jax_hooks.PrimitiveCall, indices: tuple[int, ...]) -> _CompiledPair:
    return _CompiledPair(call, indices)


def _pulled_back(name: str, pull_back: Callable[[list[Any]], Sequence[Any]], cotangents: list[Any]) -> Sequence[Any]:
    try:
        return pull_back(cotangents)
    except _CANNOT as error:  # a while loop has a derivative, but JAX cannot run it backwards
        return _refuse(name, error, cotangents)


def _refuse(name: str, error: Exception, cotangents: list[Any]) -> Sequence[Any]:
    raise ValueError(REFUSED.format(name=name, reason=error)) from error
