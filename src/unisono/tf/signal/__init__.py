"""`tf.signal`: Fourier and cosine transforms, windows, frames, `stft` and mel spectra."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.signal._fourier import (
    fft, fft2d, fft3d, fftshift, ifft, ifft2d, ifft3d, ifftshift, irfft, irfft2d, rfft, rfft2d,
)
from unisono.tf.signal._inverse_stft import inverse_stft, inverse_stft_window_fn, overlap_and_add
from unisono.tf.signal._mel import dct, idct, linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from unisono.tf.signal._windows_and_frames import frame, hamming_window, hann_window, stft

__getattr__ = _explain_missing_names("tf.signal")
