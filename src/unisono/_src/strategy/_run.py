"""`strategy.run`: the same function on every replica, as one program over all devices.

The function is traced once, for one replica, by `jax.shard_map`. Replicas of one program have values of equal shape, so
a batch whose rows do not split evenly runs as one replica that processes all rows, on every device: the sums are those
of the whole batch, whatever the user divides them by.
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
from unisono._src.replicas import context
from unisono._src.replicas.context import HasPlacement, Replica
from unisono._src.replicas.values import PerReplica, Sharded, Unsplit, as_program_input, flatten_with_none
from unisono._src.strategy._reduce import MergeCallValue
from unisono._src.tracing import functions, tape

NO_FUNCTION = """run takes a function that every replica calls; got a value of type {type}. Was it called already?
    strategy.run(step, args=(x, y))      instead of   strategy.run(step(x, y))"""

NO_TUPLE = """args is a tuple with the arguments of the function; got one value of type {type}. For one argument, write
    strategy.run(step, args=(x,))"""

ALREADY_INSIDE = """`run` was called inside a function that already runs on one replica.
Call it where code runs once for all replicas; what every replica should do, simply call."""

TAPE_OUTSIDE = """A GradientTape is recording around `strategy.run`, where it records nothing of what the replicas do.
Put it inside the function:
    def step(x):
        with unisono.GradientTape() as tape:
            ..."""

IN_A_BRANCH = """`run` was called inside a branch of `cond`. Choose inside the function that it runs instead:
    strategy.run(lambda x: keras.ops.cond(condition, ...), args=(x,))"""

DIFFERENT_NUMBERS = """The rows of this batch are not divisible by the {number} replicas, so it runs as one replica that
processes all rows. But another argument is a number that differs between the replicas.
Use batches that split evenly: dataset.batch(size, drop_remainder=True)."""


def run(strategy: HasPlacement, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Runs ``function`` on all replicas; of PerReplica arguments each replica gets its own value."""
    if context.current_replica() is not None:
        raise RuntimeError(ALREADY_INSIDE)
    if not callable(function):
        raise TypeError(NO_FUNCTION.format(type=type(function).__name__))
    if hasattr(args, "shape") or isinstance(args, PerReplica | dict | str):
        raise TypeError(NO_TUPLE.format(type=type(args).__name__))
    args = tuple(args)
    merging = context.merging_replica()
    if merging is not None:
        return _run_in_merge_call(merging, function, args, kwargs)
    with context.enter_strategy(strategy):
        if strategy.placement.num_replicas == 1:
            return _run_as_single_replica(strategy, function, args, kwargs)
        if tape.is_any_tape_recording():
            raise RuntimeError(TAPE_OUTSIDE)
        if keras_hooks.enclosing_state_scope() is not None:
            return _run_traced(strategy, function, args, kwargs)
        compiled = _get_compiled(strategy, function)
        if compiled is not None:
            return compiled(args, kwargs)
        return _run_once(strategy, function, args, kwargs)


def _get_compiled(strategy: HasPlacement, function: Callable[..., Any]) -> Callable[..., Any] | None:
    """`run` of a `unisono.function`, or of a function called in a Python loop on the host: compiled, and cached."""
    if functions.functions_run_eagerly():
        return None

    def make() -> functions.Function:
        return functions.Function(lambda args, kwargs: _run_traced(strategy, function, args, kwargs))

    if isinstance(function, functions.Function):
        return function.get_derived(strategy, make)
    return functions.get_or_make_in_host_loop(function, make)


def _run_once(strategy: HasPlacement, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Outside functions: traced again, since Python may do something else this time, and compiled only if it does.

    JAX runs no single operation over several devices without compiling it: one by one they would be compiled each time.
    """

    def once(args: Any, kwargs: Any) -> Any:
        return _run_traced(strategy, function, args, kwargs)

    arguments = functions.flatten_arguments((args, kwargs), {})
    return functions.ConcreteFunction(once, arguments).call_once(arguments.arrays)


def _run_in_merge_call(replica: Replica, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Inside a `merge_call`: runs on the replicas again, all of which take part in it."""
    args, kwargs = jax.tree.map(lambda leaf: leaf.own if isinstance(leaf, MergeCallValue) else leaf, (args, kwargs))
    with context.run_as(replica):
        result = function(*args, **kwargs)
    return jax.tree.map(lambda leaf: MergeCallValue(_as_result(leaf), replica), result)


def _run_as_single_replica(strategy: HasPlacement, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    with context.run_as(Replica(strategy, axis=None)):
        return function(*args, **kwargs)


def _run_traced(strategy: HasPlacement, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    placement = strategy.placement
    leaves, tree = flatten_with_none((args, kwargs))
    inputs = [as_program_input(leaf, placement) if isinstance(leaf, PerReplica) else leaf for leaf in leaves]
    unsplit = next((leaf for leaf in inputs if isinstance(leaf, Unsplit)), None)
    if unsplit is None:
        return _run_on_replicas(strategy, lambda leaves: _call(function, tree, leaves), inputs)
    _capture_scope().placement = placement
    batch = [_whole_argument(leaf) for leaf in inputs]
    result = _run_as_single_replica(strategy, lambda: _call(function, tree, batch), (), {})
    return jax.tree.map(
        lambda leaf: PerReplica.from_storage(Unsplit(_as_result(leaf), unsplit.row_counts, placement, is_batch=False)),
        result,
    )


def _run_on_replicas(strategy: HasPlacement, function: Callable[[list[Any]], Any], inputs: list[Any]) -> Any:
    placement = strategy.placement
    outer = _capture_scope()
    outer.placement = placement
    on_read = keras_hooks.on_read_variables(strategy)
    shards = functions.ReplicaShards(keras_hooks.owned_variables(strategy), placement)
    traced = _ReplicaProgram(strategy, function, inputs, on_read, outer, shards)
    each, same = PartitionSpec(placement.axis), PartitionSpec()
    program = jax.shard_map(
        jax_hooks.combine_all_reduces(traced, placement.axis) if placement.needs_combined_all_reduces else traced,
        mesh=placement.mesh,
        in_specs=(each, each, shards.specs),
        out_specs=(each, same, each, same, shards.specs),
        axis_names=set(placement.row_axes),
        check_vma=False,
    )
    rows = [leaf.array for leaf in inputs if isinstance(leaf, Sharded)]
    arrays, mirrored, per_replica, sums, new_shards = program(
        rows,
        [outer.stored_value(variable) for variable in on_read],
        [outer.stored_value(variable) for variable in shards.variables],
    )
    for variable, value in zip(traced.written_mirrored, mirrored, strict=True):
        outer.set_stored_value(variable, value)
    for variable, value, aggregated in zip(traced.written_on_read, per_replica, sums.of_variables, strict=True):
        outer.set_stored_value(variable, value, aggregated)
    for variable, value in zip(shards.variables, new_shards, strict=True):
        if id(variable) in shards.written:
            outer.set_stored_value(variable, value)
    return traced.make_result(arrays, sums.of_results)


def _capture_scope() -> functions.CaptureScope:
    scope = keras_hooks.enclosing_state_scope()
    if isinstance(scope, functions.NestedScope) and scope.may_run_on_host:
        scope.data_pulled()  # a program over all replicas in a Python loop: that loop can run on the host
    if not isinstance(scope, functions.CaptureScope):
        raise RuntimeError(IN_A_BRANCH)
    return scope


class _EarlySums(NamedTuple):
    """What replicas of different processes sum in the step itself, before it is read: merged with the step's other
    sums these cost nothing more.

    Attributes:
        of_results: the sums of the results, None for those that are not one number, or have half precision.
        of_variables: the aggregated values of the on-read variables, None for those whose aggregation is not a sum.
    """

    of_results: list[Any]
    of_variables: list[Any]


class _ReplicaProgram:
    """The program of one replica, and what is known of it once it is traced."""

    def __init__(
        self,
        strategy: HasPlacement,
        function: Callable[[list[Any]], Any],
        inputs: list[Any],
        on_read: list[Any],
        outer: functions.CaptureScope,
        shards: functions.ReplicaShards,
    ) -> None:
        self._strategy, self._function, self._inputs, self._on_read = strategy, function, inputs, on_read
        self._outer, self._shards = outer, shards
        self.written_mirrored: list[Any] = []
        """The variables that it writes with one value for all replicas."""
        self.written_on_read: list[Any] = []
        """The variables of which it writes this replica's value."""
        self._leaves: list[Any] = []
        self._tree: Any = None

    def __call__(
        self, rows: list[Any], states: list[Any], shards: list[Any]
    ) -> tuple[list[Any], list[Any], list[Any], _EarlySums, list[Any]]:
        self._shards.begin(shards)
        remaining_rows = iter(rows)
        leaves = [_replica_argument(leaf, remaining_rows) for leaf in self._inputs]
        trace = jax_hooks.current_trace()
        placement = self._strategy.placement
        # The trace of this program, not one of a loop inside: its sums are merged when it is traced to its end.
        replica = Replica(
            self._strategy,
            placement.axis,
            lambda: jax_hooks.trace_below_tapes(jax_hooks.current_trace()) is trace,
        )
        own = {id(variable): state[0] for variable, state in zip(self._on_read, states, strict=True)}
        scope = functions.ReplicaScope(replica, self._outer, own, trace, self._shards)
        with context.run_as(replica), scope:
            result = self._function(leaves)
            self._leaves, self._tree = flatten_with_none(jax.tree.map(_as_result, result))
        self._outer.used.update(scope.used)
        written = scope.written.values()
        self.written_mirrored = [variable for variable in written if not keras_hooks.is_on_read(variable)]
        self.written_on_read = [variable for variable in written if keras_hooks.is_on_read(variable)]
        results = [leaf for leaf in self._leaves if isinstance(leaf, jax.Array)]
        own_values = [scope.read(variable) for variable in self.written_on_read]
        return (
            [leaf if leaf.ndim else leaf[None] for leaf in results],
            [scope.read(variable) for variable in self.written_mirrored],
            [value[None] for value in own_values],
            self._early_sums(replica, results, own_values),
            self._shards.end(),
        )

    def _early_sums(self, replica: Replica, results: list[Any], own_values: list[Any]) -> _EarlySums:
        if not self._strategy.placement.needs_combined_all_reduces:
            return _EarlySums([None] * len(results), [None] * len(own_values))
        is_sum = [variable.aggregation == "sum" for variable in self.written_on_read]
        return replica.sum(  # type: ignore[no-any-return]
            _EarlySums(
                [leaf if _is_summable_number(leaf) else None for leaf in results],
                [value if summed else None for value, summed in zip(own_values, is_sum, strict=True)],
            )
        )

    def make_result(self, arrays: list[Any], sums: list[Any]) -> Any:
        """What `run` returns, from what the program over all replicas returned."""
        placement, remaining = self._strategy.placement, zip(arrays, sums, strict=True)

        def make_leaf(leaf: Any) -> Any:
            if leaf is None:
                return None
            if not isinstance(leaf, jax.Array):
                return PerReplica([leaf] * len(placement.local_replicas))
            array, total = next(remaining)
            return PerReplica.from_storage(Sharded(array, leaf.ndim == 0, placement, total))

        return jax.tree.unflatten(self._tree, [make_leaf(leaf) for leaf in self._leaves])


def _is_summable_number(leaf: Any) -> bool:
    return leaf.ndim == 0 and leaf.dtype.itemsize >= 4 and jnp.issubdtype(leaf.dtype, jnp.number)


def _call(function: Callable[..., Any], tree: Any, leaves: list[Any]) -> Any:
    args, kwargs = jax.tree.unflatten(tree, leaves)
    return function(*args, **kwargs)


def _replica_argument(leaf: Any, remaining_rows: Iterator[Any]) -> Any:
    """The argument of one replica among several."""
    if not isinstance(leaf, Sharded):
        return leaf
    rows = next(remaining_rows)
    return rows[0] if leaf.is_scalar else rows


def _whole_argument(leaf: Any) -> Any:
    """The argument of a single replica that does the work of all."""
    if isinstance(leaf, Unsplit):
        return leaf.value
    if not isinstance(leaf, Sharded):
        return leaf
    if leaf.is_scalar:
        raise ValueError(DIFFERENT_NUMBERS.format(number=leaf.num_replicas))
    return leaf.array


def _as_result(leaf: Any) -> Any:
    """The values of variables, arrays of Python numbers; strings and other objects as they are."""
    if hasattr(leaf, "as_result"):
        return leaf.as_result()
    if isinstance(leaf, keras.Variable):
        return leaf.value
    return jnp.asarray(leaf) if isinstance(leaf, bool | int | float | complex | np.ndarray | np.generic) else leaf
