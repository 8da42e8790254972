"""IDX files, the format in which MNIST and its kin were published: a header of big-endian numbers, then bytes."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any, Final

import numpy as np

_UNSIGNED_BYTES: Final = 8  # the code of the only type that these files have


def read_idx(path: Path) -> np.ndarray[Any, Any]:
    """The array in a file, which may be compressed by gzip."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    if len(data) < 4 or data[:3] != bytes([0, 0, _UNSIGNED_BYTES]):
        raise ValueError(f"{path} is no IDX file of bytes: it begins with {data[:4].hex(' ')}. Get a good copy of it.")
    num_axes = data[3]
    header = 4 + 4 * num_axes
    shape = struct.unpack(f">{num_axes}I", data[4:header]) if len(data) >= header else ()
    if len(data) != header + int(np.prod(shape, dtype=np.int64)):
        raise ValueError(
            f"{path} should hold an array of the shape {shape} and has {len(data)} bytes. Get a good copy of it."
        )
    return np.frombuffer(data, np.uint8, offset=header).reshape(shape)
