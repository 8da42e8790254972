"""One replica among those that run the same function: its collectives, and whether its code may diverge."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from unisono._src.replicas.values import apply_packed

if TYPE_CHECKING:
    from unisono._src.replicas.context._stack import HasPlacement

IN_DIVERGENT_BRANCH = """Here all replicas have to take part: gradients are summed, or values reduced or gathered.
But it is inside an `if`, a `cond` or a loop that each replica decides by itself: a replica that decides otherwise does
not take part, and the rest would wait forever. Do it outside, and choose what goes in:
    gradients = [keras.ops.where(condition, gradient, 0.0) for gradient in gradients]
    optimizer.apply_gradients(zip(gradients, variables))
If the condition is the same for all replicas, decide around `strategy.run`."""


class Replica:
    """The replica under which `strategy.run` calls the user's function.

    Args:
        strategy: the strategy that runs it.
        axis: the mesh axis along which the replicas are; None where one replica does the work of all.
        merges_sums: whether sums of the code that is being traced are packed later, when the whole program is known.
    """

    def __init__(
        self, strategy: HasPlacement, axis: str | None, merges_sums: Callable[[], bool] = lambda: False
    ) -> None:
        self.strategy, self.axis = strategy, axis
        self._merges_sums = merges_sums
        self._same_value_depth = 0
        self._divergent_depth = 0

    @property
    def num_replicas(self) -> int:
        """How many run together."""
        return 1 if self.axis is None else self.strategy.placement.num_replicas

    @property
    def index(self) -> Any:
        """Which of them this is: known only to the compiled program."""
        return jnp.zeros((), "int32") if self.axis is None else jax.lax.axis_index(self.axis)

    def sum(self, nest: Any) -> Any:
        """The sum over all replicas, leaf by leaf."""
        return self._all_reduce(nest, jax.lax.psum)

    def mean(self, nest: Any) -> Any:
        """The mean over all replicas, leaf by leaf."""
        return self._all_reduce(nest, jax.lax.pmean)

    def take_from_first(self, nest: Any) -> Any:
        """The value of the first replica."""
        if self.axis is None:
            return nest
        self.check_all_replicas_arrive()
        is_first = self.index == 0
        return jax.lax.psum(jax.tree.map(lambda x: jnp.where(is_first, x, jnp.zeros_like(x)), nest), self.axis)

    def gather(self, nest: Any, axis: int) -> Any:
        """The leaves of all replicas concatenated along ``axis``."""
        if self.axis is None:
            return nest
        self.check_all_replicas_arrive()
        return jax.tree.map(lambda x: jax.lax.all_gather(x, self.axis, axis=axis, tiled=True), nest)

    def stack(self, nest: Any) -> Any:
        """The leaves of all replicas along a new first dimension."""
        if self.axis is None:
            return jax.tree.map(lambda x: jnp.asarray(x)[None], nest)
        self.check_all_replicas_arrive()
        return jax.tree.map(lambda x: jax.lax.all_gather(x, self.axis), nest)

    @property
    def assigns_same_values(self) -> bool:
        """Whether what is assigned now is the same on all replicas: there is nothing to combine."""
        return self.axis is None or self.is_updating

    @property
    def is_updating(self) -> bool:
        """Whether code runs inside :meth:`assigning_same_values`."""
        return self._same_value_depth > 0

    @contextlib.contextmanager
    def assigning_same_values(self) -> Iterator[None]:
        """Around code that assigns the same on all replicas: an optimizer's, once gradients are summed."""
        self._same_value_depth += 1
        try:
            yield
        finally:
            self._same_value_depth -= 1

    @property
    def is_in_divergent_branch(self) -> bool:
        """Whether it depends on values of this replica alone that the code runs."""
        return self._divergent_depth > 0

    @contextlib.contextmanager
    def divergent_branch(self) -> Iterator[None]:
        """Around code that runs depending on values. Where these are the same on all replicas, it does not diverge."""
        depth = int(not self.assigns_same_values)
        self._divergent_depth += depth
        try:
            yield
        finally:
            self._divergent_depth -= depth

    def _all_reduce(self, nest: Any, collective: Callable[[Any, str], Any]) -> Any:
        if self.axis is None:
            return nest
        self.check_all_replicas_arrive()
        axis = self.axis
        # In the body of a loop or a branch sums are not merged later, and are packed here.
        if self.strategy.placement.needs_combined_all_reduces and not self._merges_sums():
            return apply_packed(nest, lambda vector: collective(vector, axis))
        return collective(nest, axis)

    def check_all_replicas_arrive(self) -> None:
        """Before a collective: an error where some replicas may not reach it."""
        if self.is_in_divergent_branch:
            raise RuntimeError(IN_DIVERGENT_BRANCH)
