"""Hook: random numbers drawn inside the map of a dataset follow from the element, not from a generator's state.

A map is traced once and runs for every element, on several devices or threads: a state that counts up would give
all elements the same numbers, or others in every run. Checked against Keras 3.15.1: every draw passes
`SeedGenerator.next`, or `global_seed_generator` in the same module if no seed was given, and expects two uint32.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
from keras.src.random import seed_generator

from unisono._src.data.plans import Draw, next_draw


def draw_key(draw: Draw, seed: int | None = None) -> jax.Array:
    """The key of one draw. ``seed`` is that of a generator that was given one."""
    key = jax.random.key(draw.seed if seed is None else seed, impl="threefry2x32")
    for part in (draw.epoch, draw.row, draw.number):
        key = jax.random.fold_in(key, part)
    return key


def seed_dataset_maps() -> None:
    """Installs the hook."""
    original_next = seed_generator.SeedGenerator.next
    original_global = seed_generator.global_seed_generator

    @functools.wraps(original_next)
    def next_seed(self: Any, ordered: bool = True) -> Any:
        draw = next_draw(self if self._initial_seed is not None else None)
        return original_next(self, ordered) if draw is None else _key_data(draw, self._initial_seed)

    @functools.wraps(original_global)
    def global_generator() -> Any:
        draw = next_draw()
        return original_global() if draw is None else _OneDraw(draw)

    seed_generator.SeedGenerator.next = next_seed
    seed_generator.global_seed_generator = global_generator


class _OneDraw:
    """What stands in for Keras's global generator during one draw."""

    def __init__(self, draw: Draw):
        self._draw = draw

    def next(self, ordered: bool = True) -> Any:
        return _key_data(self._draw, None)


def _key_data(draw: Draw, seed: int | None) -> jax.Array:
    return jax.random.key_data(draw_key(draw, seed))
