"""`tf.keras.preprocessing.image`: Keras's, with `ImageDataGenerator`."""

from __future__ import annotations

import keras

from unisono._src.keras_hooks import LEGACY_PREPROCESSING
from unisono.tf.keras._keras_fallback import keras_fallback

_legacy = LEGACY_PREPROCESSING["image"]

DirectoryIterator = _legacy.DirectoryIterator
ImageDataGenerator = _legacy.ImageDataGenerator
Iterator = _legacy.Iterator
NumpyArrayIterator = _legacy.NumpyArrayIterator
apply_affine_transform = _legacy.apply_affine_transform
apply_brightness_shift = _legacy.apply_brightness_shift
apply_channel_shift = _legacy.apply_channel_shift
random_brightness = _legacy.random_brightness
random_channel_shift = _legacy.random_channel_shift
random_rotation = _legacy.random_rotation
random_shear = _legacy.random_shear
random_shift = _legacy.random_shift
random_zoom = _legacy.random_zoom

__getattr__ = keras_fallback(globals(), "tf.keras.preprocessing.image", keras.preprocessing.image)
