"""`strategy.run`: the same function on every replica, as one program over all devices.

The function is traced once, for one replica, by `jax.shard_map`. Replicas of one program have values of equal shape, so
a batch whose rows do not divide runs as one replica that sees all rows, on every device: the sums are those of the
whole batch, whatever the user divides them by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import keras
import numpy as np
from jax.sharding import PartitionSpec

from unisono._src import jax_hooks, keras_hooks
from unisono._src.devices import Placement
from unisono._src.replicas import context
from unisono._src.replicas.context import HasPlacement, Replica
from unisono._src.replicas.values import PerReplica, Sharded, Unsplit, as_program_input, flatten_with_none
from unisono._src.strategy._of_replica import OfReplica
from unisono._src.tracing import functions, tape

ALREADY_INSIDE = """`run` was called inside a function that already runs on one replica.
Call it where code runs once for all replicas; what every replica should do, simply call."""

TAPE_OUTSIDE = """A GradientTape is recording around `strategy.run`, where it sees nothing of what the replicas do.
Put it inside the function:
    def step(x):
        with unisono.GradientTape() as tape:
            ..."""

IN_A_BRANCH = """`run` was called inside a branch of `cond`. Choose inside the function that it runs instead:
    strategy.run(lambda x: keras.ops.cond(condition, ...), args=(x,))"""

NOT_FOR_ALL = """The rows of this batch do not divide by the {number} replicas, so it runs as one replica that sees all
rows. But another argument has a number of its own for each replica, of which there is no one for all.
Use batches that divide: dataset.batch(size, drop_remainder=True)."""


def run(strategy: HasPlacement, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs ``function`` on all replicas; PerReplica arguments give each its own value."""
    if context.current_replica() is not None:
        raise RuntimeError(ALREADY_INSIDE)
    merged = context.merging_replica()
    if merged is not None:
        return _run_in_merge(merged, function, args, kwargs)
    with context.enter_strategy(strategy):
        if strategy.placement.num_replicas == 1:
            return _run_alone(strategy, function, args, kwargs)
        if tape.is_any_tape_recording():
            raise RuntimeError(TAPE_OUTSIDE)
        if keras_hooks.enclosing_state_scope() is not None:
            return _run_traced(strategy, function, args, kwargs)
        compiled = _compiled(strategy, function)
        if compiled is not None:
            return compiled(args, kwargs)
        return _run_once(strategy, function, args, kwargs)


def _compiled(strategy: HasPlacement, function: Callable[..., Any]) -> Callable[..., Any] | None:
    """`run` of a function that may be compiled: one that is meant to be, or a piece of one that turns on the host."""
    if functions.functions_run_eagerly():
        return None

    def make() -> functions.Function:
        return functions.Function(lambda args, kwargs: _run_traced(strategy, function, args, kwargs))

    if isinstance(function, functions.Function):
        return function.derived(strategy, make)
    return functions.get_or_make_in_host_loop(function, make)


def _run_once(strategy: HasPlacement, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Outside of functions: traced anew, since Python may do something else this time, and compiled if it really does.

    Operation by operation there are no programs over several devices: JAX would compile each of them every time.
    """

    def once(args: Any, kwargs: Any) -> Any:
        return _run_traced(strategy, function, args, kwargs)

    arguments = functions.flatten_arguments((args, kwargs), {})
    return functions.ConcreteFunction(once, arguments).call_once(arguments.arrays)


def _run_in_merge(replica: Replica, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Back from a `merge_call` to the replicas, all of which came there together."""
    args, kwargs = jax.tree.map(lambda leaf: leaf.own if isinstance(leaf, OfReplica) else leaf, (args, kwargs))
    with context.run_as(replica):
        result = function(*args, **kwargs)
    return jax.tree.map(lambda leaf: OfReplica(_result(leaf), replica), result)


def _run_alone(strategy: HasPlacement, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    with context.run_as(Replica(strategy, axis=None)):
        return function(*args, **kwargs)


def _run_traced(strategy: HasPlacement, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    placement = strategy.placement
    leaves, tree = flatten_with_none((args, kwargs))
    held = [as_program_input(leaf, placement) if isinstance(leaf, PerReplica) else leaf for leaf in leaves]
    uneven = next((leaf for leaf in held if isinstance(leaf, Unsplit)), None)
    if uneven is None:
        return _run_on_each(strategy, lambda leaves: _called(function, tree, leaves), held)
    _scope().placement = placement
    result = _run_alone(strategy, lambda: _called(function, tree, [_for_all(leaf) for leaf in held]), (), {})
    return jax.tree.map(
        lambda leaf: PerReplica.holding(Unsplit(_result(leaf), uneven.shares, placement, is_batch=False)), result
    )


def _run_on_each(strategy: HasPlacement, function: Callable[[list[Any]], Any], held: list[Any]) -> Any:
    placement = strategy.placement
    outer = _scope()
    outer.placement = placement
    parted = keras_hooks.on_read_variables(strategy)
    traced = _OneReplica(strategy, function, held, parted, outer)
    each, same = PartitionSpec(placement.axis), PartitionSpec()
    program = jax.shard_map(
        jax_hooks.merge_sums(traced, placement.axis) if placement.needs_merged_sums else traced,
        mesh=placement.mesh,
        in_specs=(each, each),
        out_specs=(each, same, each, same),
        check_vma=False,
    )
    rows = [leaf.array for leaf in held if isinstance(leaf, Sharded)]
    arrays, mirrored, parts, totals = program(rows, [outer.raw(variable) for variable in parted])
    for variable, value in zip(traced.mirrored, mirrored, strict=True):
        outer.set_raw(variable, value)
    for variable, value, whole in zip(traced.parted, parts, totals.of_parts, strict=True):
        outer.set_raw(variable, value, whole)
    return traced.result(arrays, totals.of_results)


def _scope() -> functions.CaptureScope:
    scope = keras_hooks.enclosing_state_scope()
    if isinstance(scope, functions.NestedScope) and scope.may_run_on_host:
        scope.data_pulled()  # a program over all replicas in a loop of Python's: that loop can turn on the host
    if not isinstance(scope, functions.CaptureScope):
        raise RuntimeError(IN_A_BRANCH)
    return scope


class _Totals(NamedTuple):
    """What replicas that are far from each other sum at once, before anybody asks: sums on the way cost nothing more.

    Attributes:
        of_results: the sums of the results, None for those that are not one number, or are of half precision.
        of_parts: the wholes of the variables with parts, None for those that are no sums.
    """

    of_results: list[Any]
    of_parts: list[Any]


class _OneReplica:
    """The program of one replica, and what is known of it once it is traced."""

    def __init__(
        self,
        strategy: HasPlacement,
        function: Callable[[list[Any]], Any],
        held: list[Any],
        parted: list[Any],
        outer: functions.CaptureScope,
    ) -> None:
        self._strategy, self._function, self._held, self._with_parts = strategy, function, held, parted
        self._outer = outer
        self.mirrored: list[Any] = []
        """The variables that it writes, one value for all replicas."""
        self.parted: list[Any] = []
        """The variables of which it writes its part."""
        self._leaves: list[Any] = []
        self._tree: Any = None

    def __call__(self, rows: list[Any], parts: list[Any]) -> tuple[list[Any], list[Any], list[Any], _Totals]:
        following = iter(rows)
        leaves = [_of_one(leaf, following) for leaf in self._held]
        replica = Replica(self._strategy, self._strategy.placement.axis)
        own = {id(variable): part[0] for variable, part in zip(self._with_parts, parts, strict=True)}
        scope = functions.ReplicaScope(replica, self._outer, own, jax_hooks.current_trace())
        with context.run_as(replica), scope:
            result = self._function(leaves)
            self._leaves, self._tree = flatten_with_none(jax.tree.map(_result, result))
        self._outer.used.update(scope.used)
        written = scope.written.values()
        self.mirrored = [variable for variable in written if not keras_hooks.is_on_read(variable)]
        self.parted = [variable for variable in written if keras_hooks.is_on_read(variable)]
        results = [leaf for leaf in self._leaves if isinstance(leaf, jax.Array)]
        own_parts = [scope.read(variable) for variable in self.parted]
        return (
            [leaf if leaf.ndim else leaf[None] for leaf in results],
            [scope.read(variable) for variable in self.mirrored],
            [part[None] for part in own_parts],
            self._totals(replica, results, own_parts),
        )

    def _totals(self, replica: Replica, results: list[Any], parts: list[Any]) -> _Totals:
        if not self._strategy.placement.needs_merged_sums:
            return _Totals([None] * len(results), [None] * len(parts))
        summed = [variable.aggregation == "sum" for variable in self.parted]
        return replica.sum(  # type: ignore[no-any-return]
            _Totals(
                [leaf if _is_number(leaf) else None for leaf in results],
                [part if is_sum else None for part, is_sum in zip(parts, summed, strict=True)],
            )
        )

    def result(self, arrays: list[Any], totals: list[Any]) -> Any:
        """What `run` returns, of what the program of all replicas did."""
        placement, following = self._strategy.placement, zip(arrays, totals, strict=True)
        leaves = [
            _rows(*next(following), leaf.ndim == 0, placement)
            if isinstance(leaf, jax.Array)
            else None
            if leaf is None
            else PerReplica([leaf] * placement.num_replicas)
            for leaf in self._leaves
        ]
        return jax.tree.unflatten(self._tree, leaves)


def _rows(array: Any, total: Any, scalars: bool, placement: Placement) -> PerReplica:
    return PerReplica.holding(Sharded(array, scalars, placement, total))


def _is_number(leaf: Any) -> bool:
    return leaf.ndim == 0 and leaf.dtype.itemsize >= 4 and jnp.issubdtype(leaf.dtype, jnp.number)


def _called(function: Callable[..., Any], tree: Any, leaves: list[Any]) -> Any:
    args, kwargs = jax.tree.unflatten(tree, leaves)
    return function(*args, **kwargs)


def _of_one(leaf: Any, following: Iterator[Any]) -> Any:
    """The argument of one replica."""
    if not isinstance(leaf, Sharded):
        return leaf
    rows = next(following)
    return rows[0] if leaf.scalars else rows


def _for_all(leaf: Any) -> Any:
    """The argument of one replica that does the work of all."""
    if isinstance(leaf, Unsplit):
        return leaf.value
    if not isinstance(leaf, Sharded):
        return leaf
    if leaf.scalars:
        raise ValueError(NOT_FOR_ALL.format(number=leaf.number))
    return leaf.array


def _result(leaf: Any) -> Any:
    """Variables give their values, Python numbers become arrays; strings and the like stay."""
    if isinstance(leaf, keras.Variable):
        return leaf.value
    return jnp.asarray(leaf) if isinstance(leaf, bool | int | float | complex | np.ndarray | np.generic) else leaf
