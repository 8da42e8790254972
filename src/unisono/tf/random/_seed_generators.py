"""Seeds and the generators behind `tf.random`: Keras's SeedGenerators, whose state is a variable.

Because the state is a variable, compiled functions draw new numbers at every call and every replica draws different
ones. Inside the map functions of datasets the numbers are derived from the element.
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

_SEED_RANGE: Final = 2**32
_GLOBAL: Final = "global"

STATE_NOT_UPDATED = """Random numbers are drawn while a program is traced that does not update the state of their
generator: it would draw the same ones every time it runs. Draw them in a layer, in a tf.function, or in a custom
`train_step`; or pass a seed, tf.random.stateless_normal(shape, seed=[1, 2])."""

_generators: dict[Any, Any] = {}
_global_seed: list[int] = []


def set_seed(seed: Any) -> None:
    """Sets the seed of `tf.random`, and of Keras, Python and NumPy: random numbers are the same in every run."""
    number = int(seed) % _SEED_RANGE
    _generators.clear()
    _global_seed[:] = [number]
    keras.utils.set_random_seed(number)


def next_key(seed: Any) -> Any:
    """Returns a new `jax.random` key. Calls with the same ``seed`` share a sequence; so do calls without one."""
    return key_from_pair(get_seed_generator(seed).next())


def get_seed_generator(seed: Any) -> Any:
    """Returns the SeedGenerator for ``seed``, which the first call creates.

    Inside a layer it belongs to the layer, so that its state is part of the model's.
    """
    name = _GLOBAL if seed is None else str(int(seed))
    layer_seed = None if seed is None else _initial_seed(seed)
    generator = keras_hooks.get_layer_generator(name, layer_seed) or _get_process_generator(name, seed)
    return check_state_advances(generator)


def check_state_advances(generator: Any) -> Any:
    """Returns the generator; raises RuntimeError while tracing a program that would not update its state."""
    if not jax_hooks.is_evaluating() and not is_tracing() and not keras_hooks.draws_differ_per_run(generator):
        raise RuntimeError(STATE_NOT_UPDATED)
    return generator


def _get_process_generator(name: str, seed: Any) -> Any:
    if name not in _generators:
        # Shared by the whole process: it must not belong to the current strategy or to the function being traced.
        with keras_hooks.outside_traces(), context.outside_of_strategies():
            _generators[name] = keras.random.SeedGenerator(_initial_seed(seed))
    return _generators[name]


def key_from_pair(pair: Any) -> Any:
    """Returns two integers as a `jax.random` key."""
    return jax.random.wrap_key_data(as_array(pair).astype(jnp.uint32), impl="threefry2x32")


def _initial_seed(seed: Any) -> int | None:
    if seed is None:
        return _global_seed[0] if _global_seed else None
    return hash((_global_seed[0] if _global_seed else 0, int(seed))) % _SEED_RANGE
