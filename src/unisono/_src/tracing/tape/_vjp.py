"""Running one operation together with its pullback: the function from cotangents of its results to those of its inputs.

While a program is traced, `jax.vjp` does it, and leaves in the program what `jax.grad` would leave there. Where
operations run eagerly, tracing each of them again would take most of the time, so the operation and its pullback are
compiled and cached: an eager step of a small model takes a third of the time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import jax

from unisono._src import jax_hooks

NO_GRADIENT = """There is no gradient through the operation {name!r}, which is between the target and a source.
JAX says: {reason}
Write it with operations that have one, give it one (jax.custom_vjp), or put jax.lax.stop_gradient before it."""

_MAX_CACHED: Final = 1024
_NOT_DIFFERENTIABLE: Final = (NotImplementedError, TypeError, ValueError)
"""What JAX raises for an operation that it cannot differentiate."""


class VjpResult(NamedTuple):
    """An operation that was run.

    Attributes:
        results: what it returned.
        connected: for each result, whether it depends on the arguments that are differentiated.
        pull_back: from cotangents of the results to those of these arguments.
    """

    results: list[Any]
    connected: list[bool]
    pull_back: Callable[[list[Any]], Sequence[Any]]


def run_with_vjp(
    call: Callable[..., list[Any]], arguments: Sequence[Any], indices: tuple[int, ...], evaluating: bool
) -> VjpResult:
    """Runs ``call(*arguments)`` so that cotangents can be pulled back to the arguments at ``indices``.

    ``evaluating`` says that it runs eagerly, not traced. An operation without a gradient is an error only when its
    gradient is needed: much of what runs under a tape, as for a metric, does not affect the target.
    """
    if not isinstance(call, jax_hooks.PrimitiveCall):
        return _trace_vjp(call, arguments, indices)
    try:
        compiled = _get_compiled_vjp(call, indices) if evaluating else None
        outcome = _trace_vjp(call, arguments, indices) if compiled is None else compiled(arguments)
    except _NOT_DIFFERENTIABLE as error:
        results = call(*arguments)
        return VjpResult(results, [True] * len(results), functools.partial(_raise_no_gradient, call.name, error))
    return outcome._replace(pull_back=functools.partial(_call_pullback, call.name, outcome.pull_back))


def _trace_vjp(call: Callable[..., list[Any]], arguments: Sequence[Any], indices: tuple[int, ...]) -> VjpResult:
    def call_with(*varied: Any) -> list[Any]:
        all_arguments = list(arguments)
        for index, value in zip(indices, varied, strict=True):
            all_arguments[index] = value
        return list(call(*all_arguments))

    results, pull_back = jax.vjp(call_with, *(arguments[index] for index in indices))
    return VjpResult(results, [not alone for alone in jax_hooks.find_unconnected(pull_back)], pull_back)


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["residuals"],
    meta_fields=["connected", "tree", "origins"],
)
@dataclass(frozen=True)
class _SavedPullback:
    """A pullback in a form that a compiled program can return.

    A residual that is also an argument or a result is not returned again, because that would copy it: ``origins`` has
    its index among these.
    """

    residuals: list[Any]
    connected: tuple[bool, ...]
    tree: Any
    origins: tuple[int | None, ...]

    @classmethod
    def from_result(cls, outcome: VjpResult, arguments: Sequence[Any]) -> _SavedPullback:
        leaves, tree = jax.tree.flatten(outcome.pull_back)
        index_by_id = {id(value): index for index, value in enumerate([*arguments, *outcome.results])}
        origins = tuple(index_by_id.get(id(leaf)) for leaf in leaves)
        residuals = [leaf for leaf, origin in zip(leaves, origins, strict=True) if origin is None]
        return cls(residuals, tuple(outcome.connected), tree, origins)

    def restore(self, arguments: Sequence[Any], results: list[Any]) -> Any:
        """The pullback."""
        residuals, values = iter(self.residuals), [*arguments, *results]
        return self.tree.unflatten(next(residuals) if origin is None else values[origin] for origin in self.origins)


class _CompiledVjp:
    """An operation and its pullback, compiled when they are first used with arrays of some shape and dtype."""

    def __init__(self, call: jax_hooks.PrimitiveCall, indices: tuple[int, ...]) -> None:
        def forward(arguments: list[Any]) -> tuple[list[Any], _SavedPullback]:
            outcome = _trace_vjp(call, arguments, indices)
            return outcome.results, _SavedPullback.from_result(outcome, arguments)

        self._forward = jax.jit(forward)
        self._backward = jax.jit(lambda pull_back, cotangents: pull_back(cotangents))

    def __call__(self, arguments: Sequence[Any]) -> VjpResult:
        results, saved = self._forward(list(arguments))
        pull_back = functools.partial(self._backward, saved.restore(arguments, results))
        return VjpResult(results, list(saved.connected), pull_back)


def _get_compiled_vjp(call: jax_hooks.PrimitiveCall, indices: tuple[int, ...]) -> _CompiledVjp | None:
    """The compiled operation and pullback of ``call``; None if they would be used only once.

    That is so for loops, branches and rematerialized blocks, whose body is mostly traced again each time; a jitted
    function keeps its program. Which calls are compiled must not depend on what ran before: fused operations round
    differently, and a process that resumes a training has run less than the one that it replaces. A call that holds
    arrays is not cached, because the cache would keep the arrays.
    """
    if call.array_constants or (call.jaxprs and not call.is_jitted):
        return None
    try:
        return _cached_vjp(call, indices)
    except TypeError:  # a parameter that is not hashable
        return None


@functools.lru_cache(_MAX_CACHED)
def _cached_vjp(call: jax_hooks.PrimitiveCall, indices: tuple[int, ...]) -> _CompiledVjp:
    return _CompiledVjp(call, indices)


def _call_pullback(name: str, pull_back: Callable[[list[Any]], Sequence[Any]], cotangents: list[Any]) -> Sequence[Any]:
    try:
        return pull_back(cotangents)
    except _NOT_DIFFERENTIABLE as error:  # a while loop has a derivative, but JAX cannot run it backwards
        return _raise_no_gradient(name, error, cotangents)


def _raise_no_gradient(name: str, error: Exception, cotangents: list[Any]) -> Sequence[Any]:
    raise ValueError(NO_GRADIENT.format(name=name, reason=error)) from error
