"""A choice between two functions that may assign variables: `keras.ops.cond` inside a compiled function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from unisono._src import jax_hooks, keras_hooks
from unisono._src.replicas import context
from unisono._src.tracing.functions._nested import NestedScope, OuterScope, divergent_branch, write_to_outer

ASSIGNED_BY_SOME = """The variable {name!r} is assigned inside a `cond` by one replica. Other replicas may take the
other branch, and it would wait for them forever. Choose the value, and assign it outside:
    variable.assign(keras.ops.where(condition, new, variable))"""


class _BranchScope(NestedScope):
    """The variables that one branch reads and writes."""

    def aggregate(self, variable: Any, value: Any) -> Any:
        replica = context.current_replica()
        if replica is not None and replica.is_in_divergent_branch and not keras_hooks.is_on_read(variable):
            raise RuntimeError(ASSIGNED_BY_SOME.format(name=variable.path))
        return value


class Branch:
    """One branch, traced separately, since what it writes has to be known before `cond` is traced.

    Args:
        outer: the scope around the choice.
        function: the branch.
        may_run_on_host: see :class:`NestedScope`.

    Attributes:
        result_avals: the shape and dtype of every array in the result.
        written: the variables that it writes, by identity.
    """

    def __init__(self, outer: OuterScope, function: Callable[[], Any], *, may_run_on_host: bool = False) -> None:
        self.written: dict[int, Any] = {}

        def trace() -> Any:
            with divergent_branch(), _BranchScope(outer, jax_hooks.current_trace(), may_run_on_host) as scope:
                result = function()
            self.written = scope.written
            return result, [scope.read(variable) for variable in scope.written.values()]

        self._jaxpr, shapes = jax.make_jaxpr(trace, return_shape=True)()
        self._tree = jax.tree.structure(shapes)
        self.result_avals = list(self._jaxpr.out_avals[: len(self._jaxpr.out_avals) - len(self.written)])

    def run(self, keys: list[int], before: list[Any]) -> tuple[Any, list[Any]]:
        """The result, and the values of the variables with these keys; ``before`` for those that were not written."""
        flat = jax.core.eval_jaxpr(self._jaxpr.jaxpr, self._jaxpr.consts)
        result, after = jax.tree.unflatten(self._tree, flat)
        written = dict(zip(self.written, after, strict=True))
        return result, [written.get(key, value) for key, value in zip(keys, before, strict=True)]


def run_cond(
    outer: OuterScope,
    predicate: Any,
    branches: Sequence[Branch],
    finishes: Sequence[Callable[[Any], Any]] | None = None,
) -> Any:
    """The result of the first branch if ``predicate`` is true, else of the second; its assignments take effect.

    ``finishes`` convert the result of each branch to a structure that both have in common.
    """
    written = {key: variable for branch in branches for key, variable in branch.written.items()}
    before = [outer.read(variable) for variable in written.values()]

    def run(branch: Branch, finish: Callable[[Any], Any] | None) -> Callable[[], Any]:
        def run_and_finish() -> Any:
            result, after = branch.run(list(written), before)
            return result if finish is None else finish(result), after

        return run_and_finish

    runs = [run(*pair) for pair in zip(branches, finishes or (None, None), strict=True)]
    result, after = jax.lax.cond(predicate, *runs)
    for variable, value in zip(written.values(), after, strict=True):
        write_to_outer(outer, variable, value)
    return result


def cond(outer: keras_hooks.StateScope, predicate: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """`true_fn()` or `false_fn()`; the assignments of the branch taken have effect in ``outer``."""
    return run_cond(outer, predicate, [Branch(outer, true_fn), Branch(outer, false_fn)])
