"""Hook: every replica draws random numbers of its own, and all generators count on alike.

Checked against Keras 3.15.1: every draw passes `SeedGenerator.next`, which gives two uint32; without a seed it is that
of `global_seed_generator`, which refuses to be traced, because its state would be lost. Inside a function it is not.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
from keras.src.backend.common import global_state
from keras.src.random import seed_generator

from unisono._src.keras_hooks._variables import enclosing_state_scope, outside_traces
from unisono._src.replicas import context


def is_global_seed_state(variable: Any) -> bool:
    """Whether ``variable`` is the state of the generator that draws for everybody who has no seed."""
    generator = global_state.get_global_attribute(seed_generator.GLOBAL_SEED_GENERATOR)
    return generator is not None and generator.state is variable


def seed_replicas() -> None:
    """Installs the hook."""
    original_next = seed_generator.SeedGenerator.next
    original_global = seed_generator.global_seed_generator

    @functools.wraps(original_next)
    def next_seed(self: Any, ordered: bool = True) -> Any:
        replica = context.current_replica()
        if replica is None:
            return original_next(self, ordered)
        with replica.assigning_same_values():
            seed = original_next(self, ordered)
        return seed if replica.axis is None else jax.random.fold_in(seed, replica.index)

    @functools.wraps(original_global)
    def global_generator() -> Any:
        if enclosing_state_scope() is None:
            return original_global()
        found = global_state.get_global_attribute(seed_generator.GLOBAL_SEED_GENERATOR)
        if found is None:
            # It serves the whole process, so it belongs to no strategy.
            with outside_traces(), context.outside_of_strategies():
                found = original_global()
        return found

    seed_generator.SeedGenerator.next = next_seed
    seed_generator.global_seed_generator = global_generator
