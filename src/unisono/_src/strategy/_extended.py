"""`strategy.extended`: tf.distribute's lower-level methods, which libraries call rather than users."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from unisono._src import keras_hooks
from unisono._src.devices import Placement, device_name
from unisono._src.replicas import context
from unisono._src.replicas.context import HasPlacement
from unisono._src.replicas.values import DistributedValues
from unisono._src.strategy._reduce import MergeCallValue, local_results, reduce
from unisono._src.strategy._run import run

IN_REPLICA = """`extended.{method}` was called inside a function that `run` calls on each replica. Call it where code
runs once for all replicas: in a scope, or in a `merge_call` of the replica context."""


class StrategyExtended:
    """The value of `strategy.extended`."""

    def __init__(self, strategy: HasPlacement, placement: Placement):
        self._strategy, self._placement = strategy, placement

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of this process that compute, one per replica: ``("gpu:0", "gpu:1")``."""
        return tuple(device_name(device) for device in self._placement.local_devices)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that hold variables: all of them."""
        return self.worker_devices

    @property
    def experimental_require_static_shapes(self) -> bool:
        """True: a program is compiled for the shapes of its arguments."""
        return True

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether the variable was created in the scope of this strategy."""
        return keras_hooks.get_owner(v) is self._strategy

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Variables created inside are on the devices of that one: on all devices of the strategy, as in its scope."""
        if not self.variable_created_in_scope(colocate_with_variable):
            raise ValueError(f"{colocate_with_variable!r} was not made in the scope of {self._strategy!r}.")
        with context.enter_strategy(self._strategy):
            yield

    def value_container(self, value: Any) -> Any:
        """The variable that holds ``value``: here a variable is one object on all devices, so itself."""
        return value

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """`strategy.reduce` over replicas only. The result is on every device, so wherever ``destinations`` are."""
        del destinations, options
        _check_cross_replica("reduce_to")
        return reduce(self._placement, reduce_op, value, None)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Sequence[tuple[Any, Any]], options: Any = None
    ) -> list[Any]:
        """:meth:`reduce_to` of several values."""
        return [self.reduce_to(reduce_op, value, where, options) for value, where in value_destination_pairs]

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        group: bool = True,
    ) -> Any:
        """Calls `fn(var, *args, **kwargs)`, which assigns to it.

        A mirrored variable is one object on all devices, so `fn` is called once; PerReplica arguments, which would
        differ from device to device, are an error: reduce them first. For a variable with a value per replica
        (`on_read`) it is called for each replica.

        Args:
            var: a variable of this strategy.
            fn: the function.
            args: its positional arguments after ``var``.
            kwargs: its keyword arguments.
            group: False gives a result for each replica instead of one for all.
        """
        _check_cross_replica("update")
        if keras_hooks.is_on_read(var):
            return run(self._strategy, fn, (var, *args), kwargs or {})
        for leaf in jax.tree.leaves((args, kwargs)):
            if isinstance(leaf, DistributedValues) and not isinstance(leaf, MergeCallValue):
                raise ValueError(
                    "extended.update: an argument has a value per replica, and the variable has one value for all "
                    "replicas. Reduce it first: strategy.reduce(op, value, axis=None)."
                )
        result = fn(var, *args, **(kwargs or {}))
        return result if group else (result,) * self._placement.num_replicas

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return local_results(value, len(self._placement.local_replicas))


def _check_cross_replica(method: str) -> None:
    if context.current_replica() is not None:
        raise RuntimeError(IN_REPLICA.format(method=method))
