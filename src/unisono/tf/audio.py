"""`tf.audio`: WAV files with 16 bits for each sample. Runs on the host: in dataset maps, or outside functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from unisono._src.data import files
from unisono.tf import errors
from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.io._bytes import to_byte_string, to_byte_tensor


class DecodeWav(NamedTuple):
    """Samples of shape (samples, channels), and their number per second."""

    audio: HostTensor
    sample_rate: HostTensor


def decode_wav(contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: Any = None) -> DecodeWav:
    """Decodes a WAV file.

    >>> audio, rate = decode_wav(encode_wav([[0.0], [0.5]], 8000))
    >>> audio.tolist(), int(rate)
    ([[0.0], [0.5]], 8000)

    Args:
        contents: the bytes of the file.
        desired_channels: the number of channels; -1 for that of the file.
        desired_samples: the number of samples; -1 for all. Zeros are added, or samples left out, at the end.
        name: accepted, without effect.
    """
    data = to_byte_string(contents, "tf.audio.decode_wav")
    try:
        audio, rate = files.decode_wav(data, int(desired_channels), int(desired_samples))
    except files.WavError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.audio.{error}") from error
    return DecodeWav(to_host_tensor(audio), to_host_tensor(np.int32(rate)))


def encode_wav(audio: Any, sample_rate: Any, name: Any = None) -> HostTensor:
    """Encodes samples of shape (samples, channels), between -1 and 1, as a WAV file."""
    try:
        return to_byte_tensor(files.encode_wav(np.asarray(audio), int(sample_rate)))
    except files.WavError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.audio.{error}") from error


__getattr__ = _explain_missing_names("tf.audio")
