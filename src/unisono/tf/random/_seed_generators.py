"""Where random numbers come from: generators of Keras, whose state is a variable.

So compiled functions draw other numbers at every call, replicas draw numbers of their own, and inside the maps of
datasets the numbers follow from the element.
"""

from __future__ import annotations

from typing import Any, Final

import jax
import jax.numpy as jnp
import keras

from unisono._src import jax_hooks, keras_hooks
from unisono._src.data.dataset._trace import is_tracing
from unisono._src.replicas import context
from unisono.tf._tensors import as_array

_BITS: Final = 2**32
_GLOBAL: Final = "global"

ALWAYS_THE_SAME = """Random numbers are drawn while a program is traced that does not know their generator: it would
draw the same ones every time it runs. Draw them in a layer, in a tf.function, or in a `train_step` of your own; or
give the seed, tf.random.stateless_normal(shape, seed=[1, 2])."""

_generators: dict[Any, Any] = {}
_chosen: list[int] = []


def set_seed(seed: Any) -> None:
    """From here on random numbers are the same in every run: those of the namespace, Keras's initialisers and layers,
    and also those of Python and NumPy.
    """
    number = int(seed) % _BITS
    _generators.clear()
    _chosen[:] = [number]
    keras.utils.set_random_seed(number)


def next_key(seed: Any) -> Any:
    """A new key for `jax.random`. Calls with the same ``seed`` draw from one sequence, those without from another."""
    return key_from_pair(get_seed_generator(seed).next())


def get_seed_generator(seed: Any) -> Any:
    """Keras's generator of the sequence that belongs to ``seed``, made if it is the first call.

    Inside of a layer it is one of the layer, so that its state is part of the model's.
    """
    name = _GLOBAL if seed is None else str(int(seed))
    found = keras_hooks.get_layer_generator(
        name, None if seed is None else _first_seed(seed)
    ) or _get_process_generator(name, seed)
    return check_state_advances(found)


def check_state_advances(generator: Any) -> Any:
    """The generator; an error if a program is being traced that would draw the same numbers from it every time."""
    if not jax_hooks.is_evaluating() and not is_tracing() and not keras_hooks.draws_differ_per_run(generator):
        raise RuntimeError(ALWAYS_THE_SAME)
    return generator


def _get_process_generator(name: str, seed: Any) -> Any:
    if name not in _generators:
        # It serves the whole process: it belongs to no strategy, and to no function that happens to be traced.
        with keras_hooks.outside_traces(), context.outside_of_strategies():
            _generators[name] = keras.random.SeedGenerator(_first_seed(seed))
    return _generators[name]


def key_from_pair(pair: Any) -> Any:
    """Two whole numbers as a key for `jax.random`."""
    return jax.random.wrap_key_data(as_array(pair).astype(jnp.uint32), impl="threefry2x32")


def _first_seed(seed: Any) -> int | None:
    if seed is None:
        return _chosen[0] if _chosen else None
    return hash((_chosen[0] if _chosen else 0, int(seed))) % _BITS


keras_hooks.track_current_layer()
