"""Hook: two operations that XLA:CPU does badly, written in a way that it does well, bit for bit the same.

In force only while a program of ours is traced for CPU devices; stock Keras models never see them. Checked
against Keras 3.15.1, whose layers reach these operations as `backend.nn.max_pool` and `backend.numpy.matmul`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
from keras.src import backend
from keras.src.backend import standardize_data_format
from keras.src.ops import nn, numpy

from unisono._src import hooks
from unisono._src.devices import Placement


class _Active(threading.local):
    pooling = False
    matmul = False


_active = _Active()

# A window of more elements than this is left to XLA: the chain of comparisons grows with it.
_MAX_WINDOW = 16


@contextlib.contextmanager
def use_cpu_lowerings(placement: Placement, *, stock_step: bool) -> Iterator[None]:
    """Trace a program for ``placement`` inside this block.

    Args:
        placement: decides by its platform and number of devices what is worth replacing.
        stock_step: whether Keras's own `train_step` is traced, which differentiates in reverse only. The
            other matmul has no forward-mode derivative, so a custom step does without it.
    """
    on_cpu = placement.platform == "cpu"
    before = _active.pooling, _active.matmul
    _active.pooling, _active.matmul = on_cpu, on_cpu and stock_step and placement.num_replicas > 1
    try:
        yield
    finally:
        _active.pooling, _active.matmul = before


def install_cpu_lowerings() -> None:
    """Installs the hook."""
    why = "max-pooling and matrix products of a compiled step are fast on CPU devices"
    hooks.require(nn, "max_pool", expects="calls backend.nn.max_pool", why=why)
    hooks.wrap(
        backend.nn,
        "max_pool",
        _pool_by_tiles,
        expects="(inputs, pool_size, strides=None, padding='valid', data_format=None)",
        why=why,
    )
    hooks.require(numpy, "matmul", expects="calls backend.numpy.matmul", why=why)
    hooks.wrap(backend.numpy, "matmul", _multiply_rows_by_kernel, expects="(x1, x2)", why=why)


def _pool_by_tiles(original: Any) -> Any:
    def max_pool(
        inputs: Any, pool_size: Any, strides: Any = None, padding: str = "valid", data_format: Any = None
    ) -> Any:
        window = _tiles(inputs, pool_size, strides, padding, data_format) if _active.pooling else None
        if window is None:
            return original(inputs, pool_size, strides, padding, data_format)
        return _max_of_tiles(inputs, window)

    return max_pool


def _multiply_rows_by_kernel(original: Any) -> Any:
    def matmul(x1: Any, x2: Any) -> Any:
        if _active.matmul and _is_rows_by_kernel(x1, x2):
            return _rows_by_kernel(jnp.asarray(x1), jnp.asarray(getattr(x2, "value", x2)))
        return original(x1, x2)

    return matmul


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


def _is_rows_by_kernel(x1: Any, x2: Any) -> bool:
    shapes = getattr(x1, "ndim", 0), getattr(x2, "ndim", 0)
    dtypes = [getattr(x, "dtype", None) for x in (x1, x2)]
    return shapes == (2, 2) and dtypes[0] == dtypes[1] and str(dtypes[0]) in ("float32", "bfloat16", "float16")


@jax.custom_vjp
def _rows_by_kernel(x: jax.Array, kernel: jax.Array) -> jax.Array:
    """``x @ kernel`` whose kernel gradient comes out in the kernel's own layout.

    JAX's rule gives its transpose. On one device XLA folds that into the product; over several, the all-reduce
    comes between the two, and the optimizer reads every gradient across its rows (1.25 instead of 0.97 ms for
    the step of a 784-256-256-10 network on two CPU devices).
    """
    return jnp.matmul(x, kernel)


def _forward(x: jax.Array, kernel: jax.Array) -> tuple[jax.Array, tuple[jax.Array, jax.Array]]:
    return jnp.matmul(x, kernel), (x, kernel)


def _backward(saved: tuple[jax.Array, jax.Array], grad: jax.Array) -> tuple[jax.Array, jax.Array]:
    x, kernel = saved
    over_rows = (((0,), (0,)), ((), ()))
    return jnp.matmul(grad, kernel.T), jax.lax.dot_general(x, grad, over_rows)


_rows_by_kernel.defvjp(_forward, _backward)
