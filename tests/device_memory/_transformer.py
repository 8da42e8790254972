"""A transformer of any size, and the strategies under which its memory is measured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
from keras import layers

import unisono
from unisono._src.strategy import Strategy


@dataclass(frozen=True, kw_only=True)
class Size:
    """A decoder, and the tokens of one global batch."""

    vocabulary: int
    width: int
    depth: int
    heads: int
    length: int
    rows: int


# 218 million parameters.
LARGE = Size(vocabulary=32768, width=1024, depth=12, heads=16, length=128, rows=16)
# 0.9 million: wide enough that what is not sharded, vectors, takes little beside the matrices.
SMALL = Size(vocabulary=256, width=256, depth=1, heads=4, length=8, rows=16)


@dataclass(frozen=True)
class Configuration:
    """A strategy on eight devices, and whether blocks are computed again for the gradient."""

    title: str
    strategy: Callable[[], Strategy]
    remat: bool = False


CONFIGURATIONS = {
    "mirrored": Configuration("`MirroredStrategy`", lambda: unisono.MirroredStrategy(_devices())),
    "zero1": Configuration(
        '`FullyShardedStrategy(shard="optimizer")`', lambda: unisono.FullyShardedStrategy(_devices(), "optimizer")
    ),
    "zero3": Configuration("`FullyShardedStrategy()`", lambda: unisono.FullyShardedStrategy(_devices())),
    "zero3-remat": Configuration(
        "`FullyShardedStrategy()` and `unisono.remat`", lambda: unisono.FullyShardedStrategy(_devices()), remat=True
    ),
    "mesh": Configuration(
        '`ModelParallelStrategy({"batch": 2, "model": 4})`',
        lambda: unisono.ModelParallelStrategy({"batch": 2, "model": 4}, devices=_devices()),
    ),
}


def _devices() -> list[str]:
    return [f"cpu:{index}" for index in range(8)]


class Embeddings(layers.Layer):
    """The sum of a vector for each token and one for its position."""

    def __init__(self, size: Size):
        super().__init__()
        self.tokens = layers.Embedding(size.vocabulary, size.width)
        self.positions = layers.Embedding(size.length, size.width)

    def build(self, shape: Any) -> None:
        self.tokens.build()
        self.positions.build()
        self.built = True

    def call(self, tokens: Any) -> Any:
        return self.tokens(tokens) + self.positions(keras.ops.arange(tokens.shape[1]))


class Block(layers.Layer):
    """Causal attention and two dense layers, each after a normalization and with a residual connection."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.before_attention, self.before_dense = layers.LayerNormalization(), layers.LayerNormalization()
        self.attention = layers.MultiHeadAttention(heads, width // heads)
        self.up, self.down = layers.Dense(4 * width, activation="gelu"), layers.Dense(width)

    def build(self, shape: Any) -> None:
        self.before_attention.build(shape)
        self.attention.build(shape, shape)
        self.before_dense.build(shape)
        self.up.build(shape)
        self.down.build((*shape[:-1], self.up.units))
        self.built = True

    def call(self, inputs: Any) -> Any:
        normal = self.before_attention(inputs)
        hidden = inputs + self.attention(normal, normal, use_causal_mask=True)
        return hidden + self.down(self.up(self.before_dense(hidden)))


def make_transformer(size: Size, *, remat: bool = False) -> keras.Model:
    """Logits of the next token for each token."""
    tokens = layers.Input((size.length,), dtype="int32")
    hidden = Embeddings(size)(tokens)
    for _ in range(size.depth):
        with unisono.remat() if remat else contextlib.nullcontext():
            hidden = Block(size.width, size.heads)(hidden)
    return keras.Model(tokens, layers.Dense(size.vocabulary)(layers.LayerNormalization()(hidden)))


def compile_model(model: keras.Model) -> None:
    """For training by Adam."""
    model.compile(keras.optimizers.Adam(1e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
