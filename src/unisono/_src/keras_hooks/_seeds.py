"""Hook: random numbers of Keras inside the maps of datasets and on replicas.

A map is traced once and runs for every element, on several devices or threads: a state that counts up would give
all elements the same numbers, or different ones in every run. So a number drawn there follows from the element.
Every replica draws random numbers of its own, and all generators advance alike.

Checked against Keras 3.15.1: every draw passes `SeedGenerator.next`, which gives two uint32; without a seed it is that
of `global_seed_generator` in the same module, which refuses to be traced, because its state would be lost. Inside a
function of ours it is not.
"""

from __future__ import annotations

from typing import Any, Final

import jax
from keras.src.backend.common import global_state
from keras.src.random import seed_generator

from unisono._src import hooks
from unisono._src.data.plans import Draw, next_draw
from unisono._src.keras_hooks._variables import enclosing_state_scope, outside_traces
from unisono._src.replicas import context

_STATE_NAME: Final = "seed_generator_state"


def install_replica_seeds() -> None:
    """Installs the hook."""
    hooks.wrap(
        seed_generator.SeedGenerator,
        "next",
        _next_seed,
        expects="(self, ordered=True)",
        why="draws differ between elements of a dataset and between replicas, and are the same in every run",
    )
    hooks.wrap(
        seed_generator,
        "global_seed_generator",
        _global_seed_generator,
        expects="()",
        why="draws without a seed work inside traced functions and of the maps of datasets",
    )
    hooks.require(
        seed_generator.SeedGenerator,
        "__init__",
        expects="(self, seed=None, name=None, **kwargs)",
        why="the state of a generator is known by the name that it gives",
        works=lambda: _STATE_NAME in seed_generator.SeedGenerator.__init__.__code__.co_consts,
    )
    hooks.require(
        seed_generator,
        "draw_seed",
        expects="calls global_seed_generator",
        why="every draw without a seed comes from there",
    )


def draw_key(draw: Draw, seed: int | None = None) -> jax.Array:
    """The key of one draw. ``seed`` is that of a generator that was given one."""
    key = jax.random.key(draw.seed if seed is None else seed, impl="threefry2x32")
    for part in (draw.epoch, draw.row, draw.number):
        key = jax.random.fold_in(key, part)
    return key


def is_global_seed_state(variable: Any) -> bool:
    """Whether ``variable`` is the state of the generator that serves every draw without a seed."""
    generator = global_state.get_global_attribute(seed_generator.GLOBAL_SEED_GENERATOR)
    return generator is not None and generator.state is variable


def is_seed_state(variable: Any) -> bool:
    """Whether ``variable`` is the state of a `SeedGenerator`: Keras gives these one name."""
    return bool(variable.name == _STATE_NAME)


def _next_seed(original: Any) -> Any:
    def draw_seed(self: Any, ordered: bool) -> Any:
        draw = next_draw(self if self._initial_seed is not None else None)
        return original(self, ordered) if draw is None else _key_data(draw, self._initial_seed)

    def next_seed(self: Any, ordered: bool = True) -> Any:
        replica = context.current_replica()
        if replica is None:
            return draw_seed(self, ordered)
        with replica.assigning_same_values():
            seed = draw_seed(self, ordered)
        return seed if replica.axis is None else jax.random.fold_in(seed, replica.index)

    return next_seed


def _global_seed_generator(original: Any) -> Any:
    def find_or_make() -> Any:
        draw = next_draw()
        return original() if draw is None else _OneDraw(draw)

    def global_generator() -> Any:
        if enclosing_state_scope() is None:
            return find_or_make()
        found = global_state.get_global_attribute(seed_generator.GLOBAL_SEED_GENERATOR)
        if found is None:
            # It serves the whole process, so it belongs to no strategy.
            with outside_traces(), context.outside_of_strategies():
                found = find_or_make()
        return found

    return global_generator


class _OneDraw:
    """Replaces Keras's global generator for one draw."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw

    def next(self, ordered: bool = True) -> Any:
        return _key_data(self._draw, None)


def _key_data(draw: Draw, seed: int | None) -> jax.Array:
    return jax.random.key_data(draw_key(draw, seed))
