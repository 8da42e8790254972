"""ResNet-50 and GPT-2 small in Keras, and a round of training: one call of `fit`."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import jax
import keras
from _large_models import LENGTH, NUM_CLASSES, VOCABULARY, LargeWork, load
from _protocol import Round, serve_rounds

_WIDTH, _HEADS, _DEPTH = 768, 12, 12


def serve_fit(scope: contextlib.AbstractContextManager[Any]) -> None:
    """Runs a contender whose model is created inside ``scope``."""

    def contender() -> Round:
        work = LargeWork.from_json(sys.argv[1])
        x, y = load(work)
        with scope:
            model = new_model(work)

        epochs = work.epochs_by_round()

        def train() -> dict[str, float]:
            history = model.fit(x, y, batch_size=work.rows, epochs=next(epochs), verbose=0).history
            return {"loss": history["loss"][-1], "peak_bytes": _peak_bytes()}

        return train

    serve_rounds(contender)


def new_model(work: LargeWork) -> Any:
    """A new model, compiled."""
    keras.utils.set_random_seed(1)
    keras.config.set_dtype_policy("mixed_bfloat16")
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    if work.network == "resnet50":
        model = _resnet50()
        model.compile(keras.optimizers.SGD(0.1, momentum=0.9), loss)
    else:
        model = _gpt2()
        model.compile(keras.optimizers.Adam(3e-4), loss)
    return model


def _resnet50() -> Any:
    inputs = keras.Input((224, 224, 3), dtype="uint8")
    scaled = keras.layers.Rescaling(1 / 127.5, offset=-1)(inputs)
    logits = keras.applications.ResNet50(weights=None, classes=NUM_CLASSES, classifier_activation=None)(scaled)
    return keras.Model(inputs, logits)


def _gpt2() -> Any:
    layers = keras.layers
    inputs = keras.Input((LENGTH,), dtype="int32")
    hidden = layers.Embedding(VOCABULARY, _WIDTH)(inputs) + _Positions()(inputs)
    for _ in range(_DEPTH):
        normal = layers.LayerNormalization()(hidden)
        hidden = hidden + layers.MultiHeadAttention(_HEADS, _WIDTH // _HEADS)(normal, normal, use_causal_mask=True)
        wide = layers.Dense(4 * _WIDTH, activation="gelu")(layers.LayerNormalization()(hidden))
        hidden = hidden + layers.Dense(_WIDTH)(wide)
    logits = layers.Dense(VOCABULARY, use_bias=False)(layers.LayerNormalization()(hidden))
    return keras.Model(inputs, logits)


class _Positions(keras.layers.Layer):  # type: ignore[misc]  # Keras has no types
    """The embedding of the positions."""

    def build(self, input_shape: Any) -> None:
        self.embeddings = self.add_weight(shape=(LENGTH, _WIDTH), initializer="uniform")

    def call(self, inputs: Any) -> Any:
        return keras.ops.cast(self.embeddings, self.compute_dtype)


def _peak_bytes() -> float:
    statistics = jax.local_devices()[0].memory_stats() or {}
    return float(statistics.get("peak_bytes_in_use", 0))
