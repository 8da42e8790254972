"""Operations that XLA:CPU does badly, written in a way that it does well, bit for bit the same.

Checked against Keras 3.15.1, whose layers reach max-pooling as `backend.nn.max_pool`.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

import jax
import jax.numpy as jnp
from keras.src.backend import standardize_data_format

from unisono._src.keras_hooks._traced_platform import is_traced_for

# A window of more elements than this is left to XLA: the chain of comparisons grows with it.
_MAX_WINDOW = 16


def _pool_by_tiles(original: Any) -> Any:
    def max_pool(
        inputs: Any, pool_size: Any, strides: Any = None, padding: str = "valid", data_format: Any = None
    ) -> Any:
        window = _tiles(inputs, pool_size, strides, padding, data_format) if is_traced_for("cpu") else None
        if window is None:
            return original(inputs, pool_size, strides, padding, data_format)
        # XLA's own pooling is faster where nothing is differentiated: 0.6 against 0.9 ms to predict with a small CNN.
        pool = jax.custom_jvp(lambda x: original(x, pool_size, strides, padding, data_format))
        pool.defjvp(lambda primals, tangents: jax.jvp(lambda x: _max_of_tiles(x, window), primals, tangents))
        return pool(inputs)

    return max_pool


def _tiles(inputs: Any, pool_size: Any, strides: Any, padding: str, data_format: Any) -> tuple[int, ...] | None:
    """The window over (rows, *spatial, channels) if it tiles the input without overlap, else None."""
    num_spatial = inputs.ndim - 2
    size = (pool_size,) * num_spatial if isinstance(pool_size, int) else tuple(pool_size)
    step = size if strides is None else (strides,) * num_spatial if isinstance(strides, int) else tuple(strides)
    fits = (
        padding == "valid"
        and standardize_data_format(data_format) == "channels_last"
        and size == step
        and math.prod(size) <= _MAX_WINDOW
        and all(dim >= edge for dim, edge in zip(inputs.shape[1:-1], size, strict=True))
    )
    return size if fits else None


def _max_of_tiles(x: Any, window: tuple[int, ...]) -> Any:
    """Max-pooling as comparisons between the elements of each tile.

    The gradient of XLA's reduce-window is a select-and-scatter, which on CPU takes 23 of the 27 ms of a small
    CNN's step. As there, the first of equal elements wins and NaN is propagated.
    """
    tiled, kept = [x.shape[0]], [slice(None)]
    for dim, edge in zip(x.shape[1:-1], window, strict=True):
        tiled += [dim // edge, edge]
        kept.append(slice(0, dim // edge * edge))
    tiles = x[tuple(kept)].reshape(*tiled, x.shape[-1])
    result: Any = None
    for offsets in itertools.product(*map(range, window)):
        index: list[Any] = [slice(None)]
        for offset in offsets:
            index += [slice(None), offset]
        element = tiles[tuple(index)]
        result = element if result is None else jnp.where((element > result) | (element != element), element, result)
    return result


CPU_LOWERINGS: Final = {
    "max_pool": (_pool_by_tiles, "(inputs, pool_size, strides=None, padding='valid', data_format=None)"),
}
"""The functions of `backend.nn` that are replaced: with what, and the signature that is expected of them."""
