"""WAV files with 16 bits for each sample, as TensorFlow reads and writes them: from bytes to arrays and back."""

from __future__ import annotations

import io
import wave
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_SCALE: Final = 1 << 15
_MAX_CHANNELS: Final = 1 << 16


class WavError(ValueError):
    """Bytes that are not a WAV file of 16-bit samples."""


def decode_wav(data: bytes, channels: int = -1, samples: int = -1) -> tuple[NDArray[np.float32], int]:
    """The samples between -1 and 1, of shape (samples, channels), and the number of samples per second.

    Args:
        data: the content of the file.
        channels: the wanted number; -1 for that of the file. The last channel is repeated, or channels are left out.
        samples: the wanted number; -1 for all. Zeros are added, or samples left out, at the end.
    """
    try:
        with wave.open(io.BytesIO(data)) as file:
            width, found, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
            frames = file.readframes(file.getnframes())
    except (wave.Error, EOFError, RuntimeError) as error:
        raise WavError(f"decode_wav: {len(data)} bytes that are no WAV file: {error}.") from error
    if width != 2:
        raise WavError(f"decode_wav: the file has {8 * width} bits for each sample. Expected 16.")
    whole = len(frames) // (2 * found)
    values = np.frombuffer(frames, "<i2", whole * found).reshape(-1, found).astype(np.float32) / np.float32(_SCALE)
    if channels > 0:
        values = values[:, np.minimum(np.arange(channels), found - 1)]
    if samples >= 0:
        values = values[:samples]
        values = np.pad(values, ((0, samples - len(values)), (0, 0)))
    return values, rate


def encode_wav(audio: Any, rate: int) -> bytes:
    """A WAV file of samples between -1 and 1, of shape (samples, channels). Samples outside are cut off."""
    values = np.asarray(audio, np.float32)
    if values.ndim != 2 or not 1 <= values.shape[1] < _MAX_CHANNELS:
        raise WavError(f"encode_wav: the audio has shape {values.shape}. Expected (samples, channels).")
    samples = np.clip(np.rint(values * _SCALE), -_SCALE, _SCALE - 1).astype("<i2")
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(values.shape[1])
        file.setsampwidth(2)
        file.setframerate(int(rate))
        file.writeframes(samples.tobytes())
    return target.getvalue()
