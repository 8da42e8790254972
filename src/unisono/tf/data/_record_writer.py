"""`tf.data.experimental.TFRecordWriter`: a dataset of byte strings becomes a file of records."""

from __future__ import annotations

from typing import Any

from unisono import data
from unisono._src.data import files
from unisono.tf._paths import to_local_path
from unisono.tf.io._bytes import one_byte_string

NO_DATASET = """tf.data.experimental.TFRecordWriter.write: expected a dataset of byte strings, got {kind}. To write one
record after the other use tf.io.TFRecordWriter(path), whose write takes bytes."""

_CALL = "tf.data.experimental.TFRecordWriter.write"


class TFRecordWriter:
    """Writes the elements of a dataset, which have to be single byte strings.

    Args:
        filename: the file, of this machine.
        compression_type: "GZIP", "ZLIB", or nothing for a plain file.
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._path = to_local_path(filename, "tf.data.experimental.TFRecordWriter")
        self._options = files.TFRecordOptions(compression_type)

    def write(self, dataset: Any) -> None:
        """Writes the file, anew if it is there."""
        if not isinstance(dataset, data.Dataset):
            raise TypeError(NO_DATASET.format(kind=type(dataset).__name__))
        with files.TFRecordWriter(self._path, self._options) as writer:
            for element in dataset:
                writer.write(one_byte_string(element, _CALL))
