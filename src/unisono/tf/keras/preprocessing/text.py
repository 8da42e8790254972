"""`tf.keras.preprocessing.text`: `Tokenizer` and related functions."""

from __future__ import annotations

from unisono._src.keras_hooks import LEGACY_PREPROCESSING
from unisono.tf.keras._keras_fallback import keras_fallback

_legacy = LEGACY_PREPROCESSING["text"]

Tokenizer = _legacy.Tokenizer
hashing_trick = _legacy.hashing_trick
one_hot = _legacy.one_hot
text_to_word_sequence = _legacy.text_to_word_sequence
tokenizer_from_json = _legacy.tokenizer_from_json

__getattr__ = keras_fallback(globals(), "tf.keras.preprocessing.text", None)
