"""`tf.signal`: Fourier transforms, windows and frames."""

from unisono.tf._missing import missing_in as _missing_in
from unisono.tf.signal._fourier import fft as fft
from unisono.tf.signal._fourier import fft2d as fft2d
from unisono.tf.signal._fourier import fft3d as fft3d
from unisono.tf.signal._fourier import fftshift as fftshift
from unisono.tf.signal._fourier import ifft as ifft
from unisono.tf.signal._fourier import ifft2d as ifft2d
from unisono.tf.signal._fourier import ifft3d as ifft3d
from unisono.tf.signal._fourier import ifftshift as ifftshift
from unisono.tf.signal._fourier import irfft as irfft
from unisono.tf.signal._fourier import irfft2d as irfft2d
from unisono.tf.signal._fourier import rfft as rfft
from unisono.tf.signal._fourier import rfft2d as rfft2d
from unisono.tf.signal._frames import frame as frame
from unisono.tf.signal._frames import hamming_window as hamming_window
from unisono.tf.signal._frames import hann_window as hann_window
from unisono.tf.signal._frames import stft as stft

__getattr__ = _missing_in("tf.signal")
