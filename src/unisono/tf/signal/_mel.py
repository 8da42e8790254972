"""Mel spectra, cosine transforms and cepstral coefficients (MFCC)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jax.scipy.fft
import numpy as np

from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._op import op, op_without_folding
from unisono.tf._operands import as_floating, static_int

ONLY_TYPE_2 = "tf.signal.{name}: type {type} is not supported; type 2 is. Use scipy.fft.{name} with tf.numpy_function."


@op_without_folding
def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: float = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = "float32",
) -> Any:
    """A matrix of triangles, by which a spectrogram is multiplied for a mel spectrogram."""
    frequencies = np.linspace(0.0, float(sample_rate) / 2, static_int(num_spectrogram_bins))
    edges = np.linspace(_to_mel(lower_edge_hertz), _to_mel(upper_edge_hertz), static_int(num_mel_bins) + 2)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    mel = _to_mel(frequencies)[:, np.newaxis]
    triangles = np.maximum(0.0, np.minimum((mel - lower) / (center - lower), (upper - mel) / (upper - center)))
    triangles[0] = 0.0  # the constant part of a signal is in no band
    return jnp.asarray(triangles, to_jax_dtype(dtype))


@op
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any) -> Any:
    """Mel-frequency cepstral coefficients: a cosine transform along the last dim, scaled as HTK does."""
    log_mel = as_floating(log_mel_spectrograms)
    return jax.scipy.fft.dct(log_mel, type=2) / np.sqrt(2.0 * log_mel.shape[-1])


@op
def dct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None) -> Any:
    """The cosine transform along the last dim."""
    if type != 2:
        raise NotImplementedError(ONLY_TYPE_2.format(name="dct", type=type))
    return jax.scipy.fft.dct(as_floating(input), type=2, n=None if n is None else static_int(n), axis=axis, norm=norm)


@op
def idct(input: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None) -> Any:
    """The inverse of :func:`dct`; without a norm times twice the length, as in TensorFlow."""
    if type != 2:
        raise NotImplementedError(ONLY_TYPE_2.format(name="idct", type=type))
    array = as_floating(input)
    inverse = jax.scipy.fft.idct(array, type=2, n=None if n is None else static_int(n), axis=axis, norm=norm)
    return inverse if norm == "ortho" else inverse * (2.0 * array.shape[axis])


def _to_mel(hertz: Any) -> Any:
    return 1127.0 * np.log(1.0 + np.asarray(hertz, "float64") / 700.0)
