"""`tf.signal`: what is not compared with recorded results."""

from __future__ import annotations

import numpy as np
import pytest

import unisono.tf as tf

X = np.random.default_rng(0).normal(size=(2, 8)).astype("float32")


def cosine_transform(x: np.ndarray) -> np.ndarray:
    n = x.shape[-1]
    angles = np.pi * np.arange(n)[:, None] * (2 * np.arange(n) + 1) / (2 * n)
    return 2 * x @ np.cos(angles).T


@pytest.mark.full
def test_cosine_transforms() -> None:
    np.testing.assert_allclose(tf.signal.dct(X), cosine_transform(X), atol=1e-4)
    np.testing.assert_allclose(tf.signal.idct(tf.signal.dct(X)), 2 * X.shape[-1] * X, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(tf.signal.idct(tf.signal.dct(X, norm="ortho"), norm="ortho"), X, atol=1e-5)
    with pytest.raises(NotImplementedError, match="type 2 is"):
        tf.signal.dct(X, type=1)


def test_cepstral_coefficients_are_a_scaled_cosine_transform() -> None:
    expected = cosine_transform(X) / np.sqrt(2 * X.shape[-1])
    np.testing.assert_allclose(tf.signal.mfccs_from_log_mel_spectrograms(X), expected, atol=1e-5)


def test_mel_weights_are_triangles_between_their_edges() -> None:
    weights = tf.signal.linear_to_mel_weight_matrix(4, 33, 8000, 100.0, 3900.0).numpy()
    assert weights.shape == (33, 4)
    assert not weights[0].any()
    assert (weights >= 0).all()
    assert weights.max() <= 1
    peaks = weights.argmax(axis=0)
    assert (np.diff(peaks) > 0).all()
    hertz = np.linspace(0, 4000, 33)
    mel = 1127 * np.log(1 + np.array([100.0, 3900.0]) / 700)
    centers = 700 * (np.exp(np.linspace(*mel, 6)[1:-1] / 1127) - 1)
    assert np.abs(hertz[peaks] - centers).max() <= 125  # the distance of two frequencies


@pytest.mark.full
def test_the_inverse_of_a_short_time_transform_is_the_signal() -> None:
    signal = np.sin(np.arange(64) / 3).astype("float32")
    spectra = tf.signal.stft(signal, frame_length=16, frame_step=4)
    window = tf.signal.inverse_stft_window_fn(4)
    again = tf.signal.inverse_stft(spectra, 16, 4, window_fn=window)
    np.testing.assert_allclose(again[12:52], signal[12:52], atol=1e-4)
    np.testing.assert_array_equal(tf.signal.overlap_and_add(np.ones((3, 4)), 2), [1, 1, 2, 2, 2, 2, 1, 1])
