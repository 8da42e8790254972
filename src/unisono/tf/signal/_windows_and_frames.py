"""Hann and Hamming windows, frames of a signal, and the short-time Fourier transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import as_floating, static_int
from unisono.tf._tensors import as_array
from unisono.tf.signal._fourier import rfft


@op_without_folding
def hann_window(window_length: Any, periodic: bool = True, dtype: Any = "float32") -> Any:
    """A Hann window."""
    return _window(window_length, periodic, dtype, 0.5, 0.5)


@op_without_folding
def hamming_window(window_length: Any, periodic: bool = True, dtype: Any = "float32") -> Any:
    """A Hamming window."""
    return _window(window_length, periodic, dtype, 0.54, 0.46)


@op
def frame(
    signal: Any, frame_length: Any, frame_step: Any, pad_end: bool = False, pad_value: Any = 0, axis: Any = -1
) -> Any:
    """Splits a signal into frames of ``frame_length``, ``frame_step`` apart, along a new dim."""
    array = jnp.moveaxis(as_array(signal), static_int(axis), -1)
    length, step, total = static_int(frame_length), static_int(frame_step), array.shape[-1]
    count = -(-total // step) if pad_end else max(0, 1 + (total - length) // step)
    missing = max(0, (count - 1) * step + length - total)
    if pad_end and missing:
        array = jnp.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, missing)], constant_values=pad_value)
    indices = np.arange(count)[:, None] * step + np.arange(length)
    dim = static_int(axis) % array.ndim
    return jnp.moveaxis(array[..., indices], (-2, -1), (dim, dim + 1))


@op
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
) -> Any:
    """The short-time Fourier transform: :func:`rfft` of windowed frames."""
    length = static_int(frame_length)
    frames = frame(as_floating(signals), length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    # By default the next power of two.
    return rfft(frames, [1 << (length - 1).bit_length() if fft_length is None else static_int(fft_length)])


def _window(window_length: Any, periodic: bool, dtype: Any, a: float, b: float) -> Any:
    length = static_int(window_length)
    if length == 1:
        return jnp.ones(1, to_jax_dtype(dtype))
    period = length if periodic and length % 2 == 0 else length - 1  # odd lengths are symmetric, as in TensorFlow
    return (a - b * jnp.cos(2 * jnp.pi * jnp.arange(length) / period)).astype(to_jax_dtype(dtype))
