"""Hook: Keras casts to 64 bits, as its MeanIoU does, without JAX's warning that it will be 32.

Checked against Keras 3.15.1: `keras.ops.cast` calls `backend.core.cast`.
"""

from __future__ import annotations

from typing import Any

import jax
import keras
from keras.src.backend.jax import core


def cast_without_warnings() -> None:
    """Installs the hook."""
    original = core.cast
    core.cast = lambda x, dtype: original(x, _on_devices(dtype))


def _on_devices(dtype: Any) -> Any:
    """What a dtype becomes on devices: 32 bits for 64, unless JAX is told otherwise."""
    name = keras.backend.standardize_dtype(dtype)
    return str(jax.dtypes.canonicalize_dtype(name)) if name.endswith("64") else name
