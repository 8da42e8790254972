"""`tf.keras.losses`: Keras's, with `Reduction` and the short names of Keras 2."""

# ruff: noqa: F401  (names that the module re-exports)

from __future__ import annotations

import keras

from unisono.tf.keras._keras_fallback import keras_fallback
from unisono.tf.keras._reduction import Reduction

MSE = mse = keras.losses.mean_squared_error
MAE = mae = keras.losses.mean_absolute_error
MAPE = mape = keras.losses.mean_absolute_percentage_error
MSLE = msle = keras.losses.mean_squared_logarithmic_error
KLD = kld = kullback_leibler_divergence = keras.losses.kl_divergence
logcosh = keras.losses.log_cosh

__getattr__ = keras_fallback(globals(), "tf.keras.losses", keras.losses)
