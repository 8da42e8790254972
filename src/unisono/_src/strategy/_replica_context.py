"""`ReplicaContext`: what a function that `run` calls can know of its replica and exchange with the other replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import jax
import jax.numpy as jnp
import keras

from unisono._src.replicas import context
from unisono._src.replicas.context import MergeCall, Replica
from unisono._src.replicas.values import DistributedValues
from unisono._src.strategy._reduce import MergeCallValue, ReduceOp
from unisono._src.strategy._strategy import Strategy


class ReplicaContext:
    """One replica among those that run the same function; `unisono.get_replica_context()` gives it.

    ```python
    def step(x):
        context = unisono.get_replica_context()
        return context.all_reduce("SUM", keras.ops.sum(x))

    total = strategy.run(step, args=(x,))
    ```
    """

    def __init__(self, replica: Replica):
        self._replica = replica

    @property
    def strategy(self) -> Strategy:
        """The strategy that runs the function."""
        return cast(Strategy, self._replica.strategy)

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas run it; 1 for a batch that does not divide, which one replica processes whole."""
        return self._replica.num_replicas

    @property
    def replica_id_in_sync_group(self) -> Any:
        """Which of them this is, from 0: a value that is computed, not a Python number."""
        return self._replica.index

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of the strategy: which one this replica runs on is known only when the program runs."""
        return self.strategy.extended.worker_devices

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """The sum or mean of ``value`` over all replicas, leaf by leaf; the same on each. Differentiable."""
        del options
        reduce = self._replica.sum if ReduceOp.of(reduce_op) is ReduceOp.SUM else self._replica.mean
        return reduce(jax.tree.map(_array, value))

    def all_gather(self, value: Any, axis: int, options: Any = None) -> Any:
        """The values of all replicas concatenated along ``axis``; the same on each. Differentiable."""
        del options
        leaves = jax.tree.map(_array, value)
        for leaf in jax.tree.leaves(leaves):
            if leaf.ndim == 0:
                raise ValueError(
                    "all_gather concatenates arrays along one of their dimensions; a number has none. "
                    "Give it one first, with keras.ops.expand_dims(value, 0)."
                )
        return self._replica.gather(leaves, axis)

    def merge_call(self, merge_fn: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        """Calls `merge_fn(strategy, *args, **kwargs)` once for all replicas, with their values as PerReplica.

        Its result is returned on each replica; of a PerReplica, each replica gets its own value.
        """
        args, kwargs = jax.tree.map(self._as_merge_call_value, (args, kwargs or {}))
        with context.run_as(MergeCall(self._replica)):
            result = merge_fn(self.strategy, *args, **kwargs)
        return jax.tree.map(self._own_value, result)

    def _as_merge_call_value(self, leaf: Any) -> Any:
        return MergeCallValue(leaf, self._replica) if isinstance(leaf, jax.Array) and self._replica.axis else leaf

    def _own_value(self, leaf: Any) -> Any:
        if isinstance(leaf, MergeCallValue):
            return leaf.own
        if isinstance(leaf, DistributedValues):
            return jnp.take(jnp.stack(leaf.values), self._replica.index, axis=0)
        return leaf

    def __enter__(self) -> None:
        raise RuntimeError("A ReplicaContext is entered by strategy.run(function), not with a `with` block.")

    def __exit__(self, *_: object) -> None: ...


def _array(leaf: Any) -> Any:
    return leaf.value if isinstance(leaf, keras.Variable) else jnp.asarray(leaf)
