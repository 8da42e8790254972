"""`tf.keras.preprocessing.sequence`: Keras's, with `TimeseriesGenerator`."""

from __future__ import annotations

import keras

from unisono._src.keras_hooks import LEGACY_PREPROCESSING
from unisono.tf.keras._keras_fallback import keras_fallback

_legacy = LEGACY_PREPROCESSING["sequence"]

TimeseriesGenerator = _legacy.TimeseriesGenerator
make_sampling_table = _legacy.make_sampling_table
skipgrams = _legacy.skipgrams

__getattr__ = keras_fallback(globals(), "tf.keras.preprocessing.sequence", keras.preprocessing.sequence)
