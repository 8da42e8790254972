"""From frames back to a signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_int
from unisono.tf._tensors import as_array
from unisono.tf.signal._fourier import irfft
from unisono.tf.signal._windows_and_frames import hann_window


@op
def overlap_and_add(signal: Any, frame_step: Any) -> Any:
    """The sum of frames that begin ``frame_step`` apart: the last two dims become one."""
    frames, step = as_floating(signal), static_int(frame_step)
    number, length = frames.shape[-2:]
    positions = (jnp.arange(number)[:, None] * step + jnp.arange(length)).reshape(-1)
    empty = jnp.zeros((*frames.shape[:-2], (number - 1) * step + length), frames.dtype)
    return empty.at[..., positions].add(frames.reshape(*frames.shape[:-2], -1))


@op
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
) -> Any:
    """The signal of a short-time Fourier transform. `inverse_stft_window_fn` gives the window that inverts `stft`."""
    length, spectra = static_int(frame_length), as_array(stfts)
    size = 2 ** (length - 1).bit_length() if fft_length is None else static_int(fft_length)
    frames = as_array(irfft(spectra, [size]))[..., :length]
    frames = jnp.pad(frames, [(0, 0)] * (frames.ndim - 1) + [(0, length - frames.shape[-1])])
    if window_fn is not None:
        frames = frames * as_array(window_fn(length, dtype=frames.dtype))
    return overlap_and_add(frames, frame_step)


def inverse_stft_window_fn(frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window) -> Callable[..., Any]:
    """The window for `inverse_stft` that makes up for the window of `stft` and for the overlap of its frames."""
    step = static_int(frame_step)

    def window(frame_length: Any, dtype: Any = "float32") -> Any:
        length = static_int(frame_length)
        forward = as_array(forward_window_fn(length, dtype=dtype))
        overlaps = -(-length // step)
        squares = jnp.pad(jnp.square(forward), (0, overlaps * step - length)).reshape(overlaps, step)
        total = jnp.tile(squares.sum(axis=0), overlaps)[:length]
        return forward / total

    return window
