"""Windows, and pieces of signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import for_jax
from unisono.tf._op import making, op
from unisono.tf._operands import floating, whole
from unisono.tf._tensors import as_array
from unisono.tf.signal._fourier import rfft


@making
def hann_window(window_length: Any, periodic: bool = True, dtype: Any = "float32") -> Any:
    """A Hann window."""
    return _window(window_length, periodic, dtype, 0.5, 0.5)


@making
def hamming_window(window_length: Any, periodic: bool = True, dtype: Any = "float32") -> Any:
    """A Hamming window."""
    return _window(window_length, periodic, dtype, 0.54, 0.46)


@op
def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: Any = -1
) -> Any:
    """Pieces of a signal, ``frame_step`` apart, along a new dim."""
    array = jnp.moveaxis(as_array(signal), whole(axis), -1)
    length, step, total = whole(frame_length), whole(frame_step), array.shape[-1]
    count = -(-total // step) if pad_end else max(0, 1 + (total - length) // step)
    missing = max(0, (count - 1) * step + length - total)
    if pad_end and missing:
        array = jnp.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)], constant_values=pad_value)
    places = np.arange(count)[:, None] * step + np.arange(length)
    at = whole(axis) % array.ndim
    return jnp.moveaxis(array[..., places], (-2, -1), (at, at + 1))


@op
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
) -> Any:
    """The Fourier transforms of pieces of a signal."""
    length = whole(frame_length)
    frames = frame(floating(signals), length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    # The next power of two, if nothing is said.
    return rfft(frames, [1 << (length - 1).bit_length() if fft_length is None else whole(fft_length)])


def _window(window_length: Any, periodic: bool, dtype: Any, a: float, b: float) -> Any:
    length = whole(window_length)
    if length == 1:
        return jnp.ones(1, for_jax(dtype))
    period = length if periodic and length % 2 == 0 else length - 1  # odd lengths are symmetric, as in TensorFlow
    return (a - b * jnp.cos(2 * jnp.pi * jnp.arange(length) / period)).astype(for_jax(dtype))
