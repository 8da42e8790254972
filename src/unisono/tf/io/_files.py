"""`read_file`, `write_file`, `matching_files` and the writer of TFRecords."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from unisono._src.data import files
from unisono.tf._paths import to_local_path, translate_os_errors
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.io._bytes import to_byte_string
from unisono.tf.io._folders import glob


def read_file(filename: Any, name: str | None = None) -> HostTensor:
    """All bytes of a file."""
    path = to_local_path(filename, "tf.io.read_file")
    with translate_os_errors(path):
        return to_host_tensor(files.read_file(path))


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Writes a file, and creates its folder."""
    path = to_local_path(filename, "tf.io.write_file")
    with translate_os_errors(path):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "wb") as file:
            file.write(to_byte_string(contents, "tf.io.write_file"))


def matching_files(pattern: Any, name: str | None = None) -> HostTensor:
    """The sorted paths that match a pattern, or one of several."""
    patterns = pattern if isinstance(pattern, list | tuple | np.ndarray) else [pattern]
    found = sorted(path.encode() for path in glob(list(np.ravel(np.asarray(patterns, object)))))
    return to_host_tensor(np.array([*found, None], object)[:-1])


class TFRecordOptions(files.TFRecordOptions):
    """The compression of a file of records: "GZIP", "ZLIB", or "" for none. Other options have no effect."""

    def __init__(
        self,
        compression_type: str | None = None,
        flush_mode: Any = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        super().__init__(compression_type)


class TFRecordWriter(files.TFRecordWriter):
    """Writes records to a local file.

    Args:
        path: the file.
        options: a `TFRecordOptions`, or "GZIP", "ZLIB" or "".
    """

    def __init__(self, path: Any, options: Any = None) -> None:
        super().__init__(to_local_path(path, "tf.io.TFRecordWriter"), options)
