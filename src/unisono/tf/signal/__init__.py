"""`tf.signal`: Fourier transforms, windows and frames."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.signal._fourier import (
    fft,
    fft2d,
    fft3d,
    fftshift,
    ifft,
    ifft2d,
    ifft3d,
    ifftshift,
    irfft,
    irfft2d,
    rfft,
    rfft2d,
)
from unisono.tf.signal._windows_and_frames import frame, hamming_window, hann_window, stft

__getattr__ = _missing_in("tf.signal")
