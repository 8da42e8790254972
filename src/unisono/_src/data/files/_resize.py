"""Resizing images as `tf.image.resize` does: half-pixel centres and no antialiasing. NumPy only.

A resize is two weighted sums, one along each dim. Which pixels go into an output pixel, and by how much, follows
from the two lengths alone: it is computed once for each pair.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

RESIZE_METHODS: Final = ("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")

_STRIP_BYTES: Final = 1 << 20  # of rows at a time, so that a large image needs little extra memory


def resize(image: NDArray[Any], size: tuple[int, int], method: str = "bilinear") -> NDArray[np.float32]:
    """An image of shape (height, width, channels) in another `size`, (height, width), as float32.

    >>> resize(np.array([[[0], [100]]], np.uint8), (1, 4))[0, :, 0]
    array([  0.,  25.,  75., 100.], dtype=float32)
    """
    height, width, num_channels = image.shape
    if method not in RESIZE_METHODS:
        raise ValueError(f"resize: method is {method!r}. Expected one of {', '.join(RESIZE_METHODS)}.")
    if 0 in image.shape or min(size) < 1:
        raise ValueError(
            f"resize: an image of shape {image.shape} cannot have size {size}. Both need a pixel at least."
        )
    rows, columns = (
        interpolation_taps(height, size[0], method),
        interpolation_taps(width, size[1], method, num_channels),
    )
    result = np.empty((size[0], size[1] * num_channels), np.float32)
    pixels = image.reshape(height, width * num_channels)
    strip = max(1, _STRIP_BYTES // (4 * pixels.shape[1]))
    for first in range(0, size[0], strip):
        here = slice(first, first + strip)
        _weight_columns(_weight_rows(pixels, rows.indices[:, here], rows.weights[:, here]), columns, result[here])
    return result.reshape(*size, num_channels)


@dataclass(frozen=True, eq=False)
class _Taps:
    """For each output pixel along one dim: the input pixels that go into it, and their weights. (taps, outputs)"""

    indices: NDArray[np.intp]
    weights: NDArray[np.float32]


class _Scratch(threading.local):
    """Arrays that each thread reuses: fresh memory costs more than the arithmetic."""

    def __init__(self) -> None:
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
        """An uninitialized array, valid until the next one of this name."""
        size = shape[0] * shape[1]
        kept = self._arrays.get(name)
        if kept is None or kept.size < size or kept.dtype != dtype:
            kept = self._arrays[name] = np.empty(size, dtype)
        return kept[:size].reshape(shape)


_scratch = _Scratch()


def _weight_rows(pixels: NDArray[Any], indices: NDArray[np.intp], weights: NDArray[np.float32]) -> NDArray[np.float32]:
    shape = (indices.shape[1], pixels.shape[1])
    source = _scratch.array("rows", shape, pixels.dtype)
    total, part = _scratch.array("total", shape, np.float32), _scratch.array("part", shape, np.float32)
    for tap, (index, weight) in enumerate(zip(indices, weights, strict=True)):
        np.take(pixels, index, axis=0, out=source, mode="clip")
        into = part if tap else total
        np.copyto(into, source)  # first, then the product: NumPy is slower when it has to do both at once
        into *= weight[:, None]
        if tap:
            total += part
    return total


def _weight_columns(strip: NDArray[np.float32], columns: _Taps, total: NDArray[np.float32]) -> None:
    part = _scratch.array("columns", total.shape, np.float32)
    for tap, (index, weight) in enumerate(zip(columns.indices, columns.weights, strict=True)):
        into = part if tap else total
        np.take(strip, index, axis=1, out=into, mode="clip")
        into *= weight
        if tap:
            total += part


@lru_cache(maxsize=4096)
def interpolation_taps(length: int, new_length: int, method: str, num_channels: int = 1) -> _Taps:
    """Along one dim, from `length` pixels to `new_length`. Each of the adjacent channels is an output."""
    scale = np.float32(length) / np.float32(new_length)
    centres = _centres(new_length, scale)
    match method:
        case "nearest":
            indices, weights = np.floor(centres)[None], np.ones((1, new_length))
        case "bilinear":
            indices, weights = _bilinear(centres)
        case "bicubic":
            indices, weights = _bicubic(centres, length)
        case "area":
            indices, weights = _area(float(scale), new_length, length)
        case _:
            # TensorFlow divides the other way around here; the last bit matters where a kernel is steep.
            centres = _centres(new_length, 1 / (np.float32(new_length) / np.float32(length)))
            indices, weights = _windowed(centres, length, *_KERNELS[method])
    used = weights.any(axis=1)
    indices = np.clip(indices[used], 0, length - 1)[:, :, None] * num_channels + np.arange(num_channels)
    return _Taps(
        indices.reshape(len(indices), -1).astype(np.intp),
        np.repeat(weights[used], num_channels, axis=1).astype(np.float32),
    )


def _centres(new_length: int, scale: Any) -> NDArray[Any]:
    """Where the centres of the new pixels are among the old ones, of which number i spans i to i + 1."""
    return (np.arange(new_length, dtype=np.float32) + np.float32(0.5)) * np.float32(scale)


def _bilinear(centres: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    position = centres - np.float32(0.5)
    below = np.floor(position)
    weight = position - below
    return np.stack([below, below + 1]), np.stack([1 - weight, weight])


def _bicubic(centres: NDArray[Any], length: int) -> tuple[NDArray[Any], NDArray[Any]]:
    position = centres - np.float32(0.5)
    below = np.floor(position)
    # TensorFlow reads the kernel from a table with 1024 steps to a pixel.
    offset = np.rint((position - below) * 1024) / 1024
    indices = below + np.arange(-1, 3)[:, None]
    weights = _keys_kernel(np.abs(offset - np.arange(-1, 3)[:, None]))
    return indices, _renormalize(indices, weights, length)


def _area(scale: float, new_length: int, length: int) -> tuple[NDArray[Any], NDArray[Any]]:
    begin = np.arange(new_length) * scale
    indices = np.floor(begin) + np.arange(math.ceil(scale) + 1)[:, None]
    weights = np.minimum(indices + 1, begin + scale) - np.maximum(indices, begin)
    return indices, np.maximum(weights, 0) / scale


def _windowed(
    centres: NDArray[Any], length: int, kernel: Callable[[NDArray[Any]], NDArray[Any]], radius: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    indices = np.ceil(centres - radius - 0.5) + np.arange(math.floor(2 * radius) + 1)[:, None]
    distance = np.abs(indices + 0.5 - centres)
    return indices, _renormalize(indices, np.where(distance < radius, kernel(distance), 0), length)


def _renormalize(indices: NDArray[Any], weights: NDArray[Any], length: int) -> NDArray[Any]:
    """Weights of pixels outside the image are redistributed to those inside."""
    inside = np.where((indices >= 0) & (indices < length), weights, 0)
    normalised: NDArray[Any] = inside / inside.sum(axis=0)
    return normalised


def _keys_kernel(x: NDArray[Any]) -> NDArray[Any]:
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _mitchell_kernel(x: NDArray[Any]) -> NDArray[Any]:
    near = ((7 * x - 12) * x * x + 16 / 3) / 6
    far = (((-7 / 3 * x + 12) * x - 20) * x + 32 / 3) / 6
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos_kernel(radius: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda x: np.sinc(x) * np.sinc(x / radius)


_KERNELS: Final[dict[str, tuple[Callable[[NDArray[Any]], NDArray[Any]], float]]] = {
    "lanczos3": (_lanczos_kernel(3), 3.0),
    "lanczos5": (_lanczos_kernel(5), 5.0),
    "gaussian": (lambda x: np.exp(-2 * x * x), 1.5),  # a deviation of half a pixel
    "mitchellcubic": (_mitchell_kernel, 2.0),
}
