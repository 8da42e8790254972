"""Which strategy and which replica the calling code runs under."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Self, cast

from unisono._src.devices import Placement, default_devices
from unisono._src.replicas import context
from unisono._src.replicas.context import Replica
from unisono._src.strategy._replica_context import ReplicaContext
from unisono._src.strategy._strategy import Strategy


class _DefaultStrategy(Strategy):
    """What :func:`get_strategy` returns outside every scope: one replica, and models stay plain Keras models."""

    @contextlib.contextmanager
    def scope(self) -> Iterator[Self]:
        """Does nothing: what is created inside belongs to no strategy."""
        yield self

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        """Calls `fn(*args, **kwargs)`."""
        return fn(*args, **(kwargs or {}))


@cache
def _default_strategy() -> Strategy:
    return _DefaultStrategy(Placement.over(default_devices()[:1]))


def get_strategy() -> Strategy:
    """The strategy whose scope is entered; outside every scope the default one, with one replica.

    >>> import unisono
    >>> with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
    ...     64 * unisono.get_strategy().num_replicas_in_sync
    128
    >>> unisono.get_strategy().num_replicas_in_sync
    1
    """
    return cast(Strategy, context.current_strategy() or _default_strategy())


def has_strategy() -> bool:
    """Whether a strategy other than the default one is current.

    >>> import unisono
    >>> with unisono.OneDeviceStrategy("cpu:0").scope():
    ...     unisono.has_strategy()
    True
    >>> unisono.has_strategy()
    False
    """
    return context.current_strategy() is not None


def in_cross_replica_context() -> bool:
    """Whether this code runs once for all replicas, in the scope of a strategy.

    >>> import unisono
    >>> strategy = unisono.OneDeviceStrategy("cpu:0")
    >>> with strategy.scope():
    ...     unisono.in_cross_replica_context(), strategy.run(unisono.in_cross_replica_context)
    (True, False)
    """
    return context.current_strategy() is not None and context.current_replica() is None


def get_replica_context() -> ReplicaContext | None:
    """The replica that runs this code; None where it runs once for all of them, in the scope of a strategy.

    Outside every scope there is a single replica.

    >>> import unisono
    >>> unisono.get_replica_context().num_replicas_in_sync
    1
    """
    replica = context.current_replica()
    if replica is None and context.current_strategy() is None:
        replica = Replica(_default_strategy(), axis=None)
    return None if replica is None else ReplicaContext(replica)


def experimental_set_strategy(strategy: Strategy | None) -> None:
    """Makes ``strategy`` current for the whole process without a ``with`` block; None undoes it.

    ```python
    unisono.experimental_set_strategy(unisono.MirroredStrategy())
    ```
    """
    context.set_global_strategy(None if isinstance(strategy, _DefaultStrategy) else strategy)
