"""A choice between two functions that may assign variables: what `keras.ops.cond` is inside a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from unisono import context, seams
from unisono.functions._capture import check_trace

ASSIGNED_BY_SOME = """The variable {name!r} is assigned inside a `cond` by one replica. The others may choose otherwise,
and it would wait for them forever. Choose the value, and assign it outside:
    variable.assign(keras.ops.where(condition, new, variable))"""


class _BranchScope(seams.StateScope):
    """What one branch reads and writes."""

    def __init__(self, outer: seams.StateScope, trace: Any) -> None:
        super().__init__()
        self._outer, self._trace = outer, trace
        self._state: dict[int, Any] = {}
        self.written: dict[int, Any] = {}
        self.losses = outer.losses

    def read(self, variable: Any) -> Any:
        return self._state[id(variable)] if id(variable) in self._state else self._outer.read(variable)

    def add_update(self, update: tuple[Any, Any]) -> None:
        variable, value = update
        check_trace(self._trace, variable)
        replica = context.replica()
        if replica is not None and not replica.writes_alike and not seams.is_on_read(variable):
            raise RuntimeError(ASSIGNED_BY_SOME.format(name=variable.path))
        self.written[id(variable)] = variable
        self._state[id(variable)] = value

    def made(self, variable: Any) -> None:
        self._outer.made(variable)

    def pulled(self) -> None:
        self._outer.pulled()


def cond(outer: seams.StateScope, predicate: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """`true_fn()` or `false_fn()`, whose assignments take effect in ``outer`` if their branch is the one taken."""
    branches = [_Branch(outer, true_fn), _Branch(outer, false_fn)]
    written = {key: variable for branch in branches for key, variable in branch.scope.written.items()}
    before = [outer.read(variable) for variable in written.values()]
    runs = [lambda branch=branch: branch.run(list(written), before) for branch in branches]
    result, after = jax.lax.cond(predicate, *runs)
    for variable, value in zip(written.values(), after, strict=True):
        outer.add_update((variable, value))
    return result


class _Branch:
    """One branch, traced by itself, since what it writes has to be known before the choice is made."""

    def __init__(self, outer: seams.StateScope, function: Callable[[], Any]) -> None:
        def traced() -> Any:
            with _BranchScope(outer, seams.current_trace()) as scope:
                result = function()
            self.scope = scope
            return result, [scope.read(variable) for variable in scope.written.values()]

        self._jaxpr, shapes = jax.make_jaxpr(traced, return_shape=True)()
        self._tree = jax.tree.structure(shapes)

    def run(self, keys: list[int], before: list[Any]) -> Any:
        """The result, and the values of the variables with these keys; ``before`` for those that were not written."""
        flat = jax.core.eval_jaxpr(self._jaxpr.jaxpr, self._jaxpr.consts)
        result, after = jax.tree.unflatten(self._tree, flat)
        written = dict(zip(self.scope.written, after, strict=True))
        return result, [written.get(key, value) for key, value in zip(keys, before, strict=True)]
