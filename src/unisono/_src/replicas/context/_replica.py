"""One replica among those that run the same function: who it is, and how it speaks with the others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from unisono._src.replicas.values import apply_packed

if TYPE_CHECKING:
    from unisono._src.replicas.context._stack import HasPlacement

DECIDED_ALONE = """Here all replicas have to come together, to sum gradients, or to reduce, gather or merge values. But
it is inside of an `if`, a `cond` or a loop that each replica decides by itself: one that decides otherwise never comes,
and the others would wait forever. Come together outside of it, and choose what goes in:
    gradients = [keras.ops.where(condition, gradient, 0.0) for gradient in gradients]
    optimizer.apply_gradients(zip(gradients, variables))
If the condition is the same for all replicas, decide around `strategy.run`."""


class Replica:
    """What `strategy.run` puts in force around the user's function.

    Args:
        strategy: the one that runs it.
        axis: the axis of the mesh along which the others are; None where one replica does the work of all.
    """

    def __init__(self, strategy: HasPlacement, axis: str | None):
        self.strategy, self.axis = strategy, axis
        self._alike = 0
        self._alone = 0

    @property
    def num_replicas(self) -> int:
        """How many run together."""
        return 1 if self.axis is None else self.strategy.placement.num_replicas

    @property
    def index(self) -> Any:
        """Which of them this is: known only to the compiled program."""
        return jnp.zeros((), "int32") if self.axis is None else jax.lax.axis_index(self.axis)

    def sum(self, nest: Any) -> Any:
        """Over all replicas, leaf by leaf."""
        if self.axis is None:
            return nest
        self.check_all_replicas_arrive()
        axis = self.axis
        if self.strategy.placement.needs_merged_sums:
            return apply_packed(nest, lambda vector: jax.lax.psum(vector, axis))
        return jax.lax.psum(nest, axis)

    def mean(self, nest: Any) -> Any:
        """Over all replicas, leaf by leaf."""
        if self.axis is None:
            return nest
        self.check_all_replicas_arrive()
        axis = self.axis
        if self.strategy.placement.needs_merged_sums:
            return apply_packed(nest, lambda vector: jax.lax.pmean(vector, axis))
        return jax.lax.pmean(nest, axis)

    def take_from_first(self, nest: Any) -> Any:
        """What the first replica has."""
        if self.axis is None:
            return nest
        self.check_all_replicas_arrive()
        is_first = self.index == 0
        return jax.lax.psum(jax.tree.map(lambda x: jnp.where(is_first, x, jnp.zeros_like(x)), nest), self.axis)

    def gather(self, nest: Any, axis: int) -> Any:
        """The leaves of all replicas, one after the other along ``axis``."""
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
        """Whether what is assigned now is the same on all replicas: there is nothing to sum."""
        return self.axis is None or self.is_updating

    @property
    def is_updating(self) -> bool:
        """Whether code runs that assigns the same on all replicas."""
        return self._alike > 0

    @contextlib.contextmanager
    def assigning_same_values(self) -> Iterator[None]:
        """For code that assigns the same on all replicas: an optimizer's, once gradients are summed."""
        self._alike += 1
        try:
            yield
        finally:
            self._alike -= 1

    @property
    def is_in_divergent_branch(self) -> bool:
        """Whether code runs, or not, as the values of this one replica say."""
        return self._alone > 0

    @contextlib.contextmanager
    def divergent_branch(self) -> Iterator[None]:
        """For code that runs only if the values at hand say so. Where these are the same on all, no one is alone."""
        alone = not self.assigns_same_values
        self._alone += alone
        try:
            yield
        finally:
            self._alone -= alone

    def check_all_replicas_arrive(self) -> None:
        """Before something that all replicas have to do: an error where one may do it without the others."""
        if self.is_in_divergent_branch:
            raise RuntimeError(DECIDED_ALONE)
