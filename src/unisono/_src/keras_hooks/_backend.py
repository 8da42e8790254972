"""Check: Keras runs on JAX. Checked against Keras 3.15.1, which reads KERAS_BACKEND once, when first imported."""

from __future__ import annotations

import keras

from unisono._src.core import WRONG_BACKEND

if keras.backend.backend() != "jax":
    raise ImportError(WRONG_BACKEND.format(where="Keras, imported before Unisono,", backend=keras.backend.backend()))
