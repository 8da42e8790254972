"""The transformer of the benchmark of sharded state in Keras, and a round of training: one call of `fit`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import keras
from _protocol import Round, serve_rounds
from _transformer import ShardedWork, initial_weights, tokens, weight_shapes


def new_model(work: ShardedWork) -> Any:
    """A new model with the initial weights, compiled."""
    layers = keras.layers
    inputs = keras.Input((work.length,), dtype="int32")
    hidden = layers.Embedding(work.vocabulary, work.width, name="tokens")(inputs)
    for index in range(work.depth):
        block = f"block{index}"
        attention = layers.MultiHeadAttention(work.heads, work.width // work.heads, name=f"{block}_attention")
        normal = layers.LayerNormalization(name=f"{block}_norm1")(hidden)
        hidden = hidden + attention(normal, normal, use_causal_mask=True)
        normal = layers.LayerNormalization(name=f"{block}_norm2")(hidden)
        wide = layers.Dense(4 * work.width, activation="gelu", name=f"{block}_up")(normal)
        hidden = hidden + layers.Dense(work.width, name=f"{block}_down")(wide)
    logits = layers.Dense(work.vocabulary, name="logits")(layers.LayerNormalization(name="norm")(hidden))
    model = keras.Model(inputs, logits)
    paths = [weight.path for weight in model.weights]
    if paths != list(weight_shapes(work)):
        raise ValueError(f"The weights are {paths}, expected {list(weight_shapes(work))}.")
    model.set_weights(list(initial_weights(work).values()))
    model.compile(keras.optimizers.Adam(), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def serve_fit(build: Callable[[ShardedWork], tuple[Any, list[Any]]]) -> None:
    """Runs a contender; ``build`` gives the model and callbacks."""

    def contender() -> Round:
        work = ShardedWork.from_json(sys.argv[1])
        x, y = tokens(work)
        model, callbacks = build(work)

        def train() -> dict[str, float]:
            history = model.fit(x, y, batch_size=work.rows, shuffle=False, verbose=0, callbacks=callbacks).history
            return {"loss": history["loss"][-1]}

        return train

    serve_rounds(contender)
