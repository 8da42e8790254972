"""Fourier transforms."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from unisono.tf._op import op
from unisono.tf._operands import as_floating, static_shape
from unisono.tf._operands import static_axes as dims
from unisono.tf._tensors import as_array


@op
def fft(input: Any) -> Any:
    """The Fourier transform along the last dim."""
    return jnp.fft.fft(as_array(input))


@op
def ifft(input: Any) -> Any:
    """The inverse of :func:`fft`."""
    return jnp.fft.ifft(as_array(input))


@op
def fft2d(input: Any) -> Any:
    """The Fourier transform along the last two dims."""
    return jnp.fft.fft2(as_array(input))


@op
def ifft2d(input: Any) -> Any:
    """The inverse of :func:`fft2d`."""
    return jnp.fft.ifft2(as_array(input))


@op
def fft3d(input: Any) -> Any:
    """The Fourier transform along the last three dims."""
    return jnp.fft.fftn(as_array(input), axes=(-3, -2, -1))


@op
def ifft3d(input: Any) -> Any:
    """The inverse of :func:`fft3d`."""
    return jnp.fft.ifftn(as_array(input), axes=(-3, -2, -1))


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
