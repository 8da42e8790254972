"""A function that is computed again for its gradient, and may read and assign variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax

from unisono._src import jax_hooks, keras_hooks
from unisono._src.tracing.functions._nested import NestedScope, OuterScope, current_outer_scope, write_to_outer
from unisono._src.tracing.tape import is_any_tape_recording


class _RematScope(NestedScope):
    """The variables that the function reads and writes, and the losses that its layers add."""

    def __init__(self, outer: OuterScope, trace: Any) -> None:
        super().__init__(outer, trace, may_run_on_host=False)
        self.losses: list[Any] = []
        self.owned_losses: list[tuple[Any, Any]] = []

    def loss_added(self, layer: Any, loss: Any) -> None:
        """Called when ``layer`` adds a loss: a number, or a nested structure of them."""
        self.owned_losses.append((layer, loss))


def rematerialize(function: Callable[..., Any], policy: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """``function``, of which a gradient keeps what ``policy`` says and computes the rest again; None keeps nothing.

    What it assigns and what its layers add as losses has the same effect as without.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        is_differentiated = is_any_tape_recording() or not jax_hooks.is_evaluating()
        if keras_hooks.in_symbolic_scope() or not is_differentiated:
            return function(*args, **kwargs)
        return _Part(lambda: function(*args, **kwargs)).run(policy)

    return call


class _Part:
    """One call. Its arguments and the variables that it reads are constants of its trace, which JAX passes to it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._outer = current_outer_scope()
        self._written: list[Any] = []
        self._loss_owners: list[Any] = []
        self._leaves: list[Any] = []
        self._tree: Any = None

    def run(self, policy: Callable[..., Any] | None) -> Any:
        arrays, masks, written, losses = jax.checkpoint(self._trace, policy=policy)()
        for variable, value in zip(self._written, written, strict=True):
            write_to_outer(self._outer, variable, value)
        for layer, loss in zip(self._loss_owners, losses, strict=True):
            layer.add_loss(loss)
        for array, mask in zip(arrays, masks, strict=True):
            if mask is not None:
                keras_hooks.set_mask(array, mask)
        computed = iter(arrays)
        leaves = [next(computed) if _is_array(leaf) else leaf for leaf in self._leaves]
        return jax.tree.unflatten(self._tree, leaves)

    def _trace(self) -> Any:
        with _RematScope(self._outer, jax_hooks.current_trace()) as scope:
            result = self._function()
        self._leaves, self._tree = jax.tree.flatten(result)
        self._written = list(scope.written.values())
        self._loss_owners = [layer for layer, _ in scope.owned_losses]
        arrays = [leaf for leaf in self._leaves if _is_array(leaf)]
        masks = [keras_hooks.get_mask(array) for array in arrays]
        return (
            arrays,
            masks,
            [scope.read(variable) for variable in self._written],
            [loss for _, loss in scope.owned_losses],
        )


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array)
