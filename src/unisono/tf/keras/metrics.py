"""`tf.keras.metrics`: Keras's, with the short names of Keras 2."""

from __future__ import annotations

import keras

from unisono.tf.keras._keras_fallback import keras_fallback

MSE = mse = keras.metrics.mean_squared_error
MAE = mae = keras.metrics.mean_absolute_error
MAPE = mape = keras.metrics.mean_absolute_percentage_error
MSLE = msle = keras.metrics.mean_squared_logarithmic_error
KLD = kld = kullback_leibler_divergence = keras.metrics.kl_divergence
log_cosh = logcosh = keras.metrics.log_cosh

__getattr__ = keras_fallback(globals(), "tf.keras.metrics", keras.metrics)
