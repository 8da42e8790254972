"""`tf.signal`: Fourier transforms, windows, frames and `stft`."""

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.signal._fourier import (
    fft, fft2d, fft3d, fftshift, ifft, ifft2d, ifft3d, ifftshift, irfft, irfft2d, rfft, rfft2d,
)
from unisono.tf.signal._windows_and_frames import frame, hamming_window, hann_window, stft

__getattr__ = _explain_missing_names("tf.signal")
