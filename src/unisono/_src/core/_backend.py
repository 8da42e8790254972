"""Keras runs on JAX: the choice, made before Keras is imported."""

from __future__ import annotations

import os
import sys

from unisono._src.core._environment import read_environment

WRONG_BACKEND = """Unisono trains Keras models on JAX, but {where} says {backend!r}.
Remove that setting, or put this before the first import of keras:
    import os
    os.environ["KERAS_BACKEND"] = "jax"
    import unisono"""


def choose_jax_backend() -> None:
    """Selects JAX as Keras's backend when none is chosen yet; raises ``ImportError`` when another one is."""
    chosen = read_environment().keras_backend
    if chosen not in (None, "jax"):
        raise ImportError(WRONG_BACKEND.format(where="KERAS_BACKEND", backend=chosen))
    if "keras" not in sys.modules:
        # ~/.keras/keras.json does not count: Keras writes it by itself, with "tensorflow" in it.
        os.environ["KERAS_BACKEND"] = "jax"
