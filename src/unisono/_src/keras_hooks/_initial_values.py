"""Hook: the initial value of a sharded variable is computed in its shards, never whole; any other is not copied.

One program computes the values of all variables of one initializer, shape, dtype and layout: the seed is an argument
of it. JAX's generators give every element the same draw however an array is sharded, so the values are those of one
device. QR and other decompositions (`Orthogonal`) are computed whole on every device, for one variable at a time.

Checked against Keras 3.15.1: an initializer with a `seed` draws from it by `draw_seed`, which asks a `SeedGenerator`
for its `next`; a number n is the same as a generator that gives [n, 0].
"""

from __future__ import annotations

import copy
import json
from typing import Any, Final

import jax
import keras
from keras.src.backend.jax.core import JaxVariable
from keras.src.initializers.random_initializers import RandomInitializer
from keras.src.random.seed_generator import draw_seed

from unisono._src import hooks, jax_hooks
from unisono._src.keras_hooks._attributes import get_owner
from unisono._src.keras_hooks._variable_layouts import layout_of
from unisono._src.processes import broadcast_from_chief

_programs: Final[dict[Any, jax.stages.Wrapped]] = {}


class _OneSeed(keras.random.SeedGenerator):
    """A generator that gives one seed, which may be traced."""

    def __init__(self, seed: Any) -> None:  # not Keras's own, which makes a variable
        self._seed = seed

    def next(self, ordered: bool = True) -> Any:
        return self._seed


def install_sharded_initialization() -> None:
    """Installs the hook."""
    why = "a sharded variable is initialised in its shards"
    hooks.wrap(JaxVariable, "_initialize_with_initializer", _initialize, expects="(self, initializer)", why=why)
    hooks.require(keras.random.SeedGenerator, "next", expects="(self, ordered=True)", why=why)


def _initialize(original: Any) -> Any:
    def initialize_with_initializer(self: Any, initializer: Any) -> None:
        owner = get_owner(self)
        # Another function may draw from generators that are variables themselves: only Keras's own are traced.
        is_keras = type(initializer).__module__.startswith("keras.") and hasattr(initializer, "get_config")
        if owner is None or not is_keras:
            original(self, initializer)
            return
        layout = layout_of(self)
        if not layout.is_fully_replicated:
            self._value = _draw(initializer, tuple(self._shape), self._dtype, layout)
        elif owner.placement.spans_processes:
            original(self, initializer)
        else:
            # A new array: copied, as arrays of the user are, it would cost a compilation for each shape.
            value = self._convert_to_tensor(initializer(self._shape, dtype=self._dtype))
            self._value = jax.device_put(value, layout)

    return initialize_with_initializer


def initial_value_program(
    initializer: Any, shape: tuple[int, ...], dtype: str, layout: jax.sharding.Sharding
) -> jax.stages.Wrapped:
    """The program that computes an initial value in the given layout, from a seed."""
    config = initializer.get_config()
    config.pop("seed", None)
    key = (type(initializer), json.dumps(config, default=repr, sort_keys=True), shape, dtype, layout)
    if key not in _programs:
        template = copy.copy(initializer)

        def draw(seed: Any) -> Any:
            if isinstance(template, RandomInitializer):
                template.seed = _OneSeed(seed)
            return template(shape, dtype=dtype)

        _programs[key] = jax.jit(jax_hooks.separate_operations(draw), out_shardings=layout)
    return _programs[key]


def _draw(initializer: Any, shape: tuple[int, ...], dtype: str, layout: jax.sharding.NamedSharding) -> jax.Array:
    seed = None
    if isinstance(initializer, RandomInitializer):
        seed = draw_seed(initializer.seed)
        if not layout.is_fully_addressable:
            seed = broadcast_from_chief(seed)  # without a seed of the user each process has made its own
    value: jax.Array = initial_value_program(initializer, shape, dtype, layout)(seed)
    return value
