"""Fourier transforms over the last dims."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._op import define_op, op
from unisono.tf._operands import as_floating, static_shape
from unisono.tf._operands import static_axes as dims
from unisono.tf._tensors import as_array

fft = define_op("fft", lambda input: jnp.fft.fft(as_array(input)), "1-D Fourier transform.")
ifft = define_op("ifft", lambda input: jnp.fft.ifft(as_array(input)), "The inverse of fft.")
ifft2d = define_op("ifft2d", lambda input: jnp.fft.ifft2(as_array(input)), "The inverse of fft2d.")
fft2d = define_op("fft2d", lambda input: jnp.fft.fft2(as_array(input)), "2-D Fourier transform.")
fft3d = define_op("fft3d", lambda input: jnp.fft.fftn(as_array(input), axes=(-3, -2, -1)), "3-D Fourier transform.")
ifft3d = define_op("ifft3d", lambda input: jnp.fft.ifftn(as_array(input), axes=(-3, -2, -1)), "The inverse of fft3d.")


@op
def rfft(input_tensor: Any, fft_length: Any = None) -> Any:
    """The Fourier transform of real numbers along the last dim."""
    return jnp.fft.rfft(as_floating(input_tensor), None if fft_length is None else static_shape(fft_length)[0])


@op
def irfft(input_tensor: Any, fft_length: Any = None) -> Any:
    """The inverse of :func:`rfft`."""
    return jnp.fft.irfft(as_array(input_tensor), None if fft_length is None else static_shape(fft_length)[0])


@op
def rfft2d(input_tensor: Any, fft_length: Any = None) -> Any:
    """The Fourier transform of real numbers along the last two dims."""
    return jnp.fft.rfft2(as_floating(input_tensor), None if fft_length is None else static_shape(fft_length))


@op
def irfft2d(input_tensor: Any, fft_length: Any = None) -> Any:
    """The inverse of :func:`rfft2d`."""
    return jnp.fft.irfft2(as_array(input_tensor), None if fft_length is None else static_shape(fft_length))


@op
def fftshift(x: Any, axes: Any = None) -> Any:
    """Moves frequency zero to the center."""
    return jnp.fft.fftshift(as_array(x), dims(axes))


@op
def ifftshift(x: Any, axes: Any = None) -> Any:
    """The inverse of :func:`fftshift`."""
    return jnp.fft.ifftshift(as_array(x), dims(axes))
