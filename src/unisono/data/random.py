"""Random numbers for map functions: different for every element and epoch, the same in every run.

Give `jax.random` a dtype, as `keras.random` does: without one it draws 64 bits on the host and 32 in a training step,
and these numbers differ.

`keras.random` and Keras's random layers need none of this: inside a map their numbers are derived from the element.
"""

from __future__ import annotations

import jax
import numpy as np

from unisono._src.data.plans import Draw, next_draw
from unisono._src.keras_hooks import draw_key

__all__ = ["generator", "key"]


def key() -> jax.Array:
    """A key for `jax.random`, inside a map function. Each call gives a different one.

    >>> import jax
    >>> from unisono.data import Dataset, random
    >>> dataset = Dataset.range(2).map(lambda x: x + jax.random.uniform(random.key(), dtype="float32"))
    >>> first, second = dataset
    >>> float(first) != float(second) - 1
    True
    """
    return draw_key(_draw("key"))


def generator() -> np.random.Generator:
    """A NumPy generator, inside a map function that runs on the host. Each call gives a different one.

    >>> from unisono.data import Dataset, random
    >>> dataset = Dataset.range(2).map(lambda x: random.generator().normal())
    >>> len(set(float(x) for x in dataset))
    2
    """
    draw = _draw("generator")
    # A tracer cannot be converted to a number: the map then runs on the host.
    numbers = (int(draw.epoch), int(draw.row), draw.number)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(draw.seed, spawn_key=numbers)))


def _draw(name: str) -> Draw:
    draw = next_draw()
    if draw is None:
        raise RuntimeError(
            f"data.random.{name}() was called outside a map function. Its numbers are derived from the element that "
            f"is being mapped: call it inside, dataset.map(lambda x: x + ...data.random.{name}()...)."
        )
    return draw
