"""`TFRecordWriter`: writing TFRecord files."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from unisono._src.data.files._framing import FOOTER, encode_header, masked_crc, zlib_wbits


@dataclass(frozen=True)
class TFRecordOptions:
    """How a record file is written.

    >>> TFRecordOptions("GZIP")
    TFRecordOptions(compression_type='GZIP')
    """

    compression_type: str | None = None
    """None or "" for a plain file, "GZIP" or "ZLIB"."""

    def __post_init__(self) -> None:
        zlib_wbits(self.compression_type, "TFRecordOptions")


class TFRecordWriter:
    """Writes byte strings into a new file, which TensorFlow reads too.

    >>> import tempfile, pathlib
    >>> from unisono.io import RecordFile, encode_example
    >>> path = pathlib.Path(tempfile.mkdtemp(), "train.tfrecord.gz")
    >>> with TFRecordWriter(path, "GZIP") as writer:
    ...     for label in range(3):
    ...         writer.write(encode_example({"label": label}))
    >>> len(list(RecordFile(path, "GZIP").read()))
    3
    """

    def __init__(self, path: str | os.PathLike[str], options: TFRecordOptions | str | None = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        bits = zlib_wbits(options.compression_type, "TFRecordWriter")
        self._path = path
        self._deflate = None if bits is None else zlib.compressobj(wbits=bits)
        try:
            self._file = open(path, "wb")  # noqa: SIM115 (close() closes it)
        except FileNotFoundError:
            where = os.fspath(path)
            folder = os.path.dirname(where)
            raise FileNotFoundError(
                f"TFRecordWriter: {where!r} cannot be created: there is no folder {folder!r}. "
                f"Write os.makedirs({folder!r}, exist_ok=True) before."
            ) from None

    def write(self, record: bytes | bytearray | memoryview) -> None:
        """Add one record."""
        if not isinstance(record, bytes):
            record = _as_bytes(record)
        if self._file.closed:
            raise ValueError(
                f"TFRecordWriter: {os.fspath(self._path)!r} is closed. Expected write() before close() and inside "
                f"the with block; a file that exists is not added to, open another one."
            )
        framed = b"".join((encode_header(len(record)), record, FOOTER.pack(masked_crc(record))))
        self._file.write(framed if self._deflate is None else self._deflate.compress(framed))

    def flush(self) -> None:
        """Pass everything written so far to the operating system, so that other processes can read it."""
        if self._deflate is not None and not self._file.closed:
            self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Finish the file. A second call changes nothing."""
        if self._file.closed:
            return
        with self._file as file:
            if self._deflate is not None:
                file.write(self._deflate.flush())

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _as_bytes(record: Any) -> bytes:
    if isinstance(record, bytearray | memoryview):
        return bytes(record)
    remedy = "writer.write(encode_example({'x': x}))"
    if isinstance(record, str):
        remedy = "writer.write(text.encode())"
    elif hasattr(record, "SerializeToString"):
        remedy = "writer.write(example.SerializeToString())"
    raise TypeError(
        f"TFRecordWriter.write got {type(record).__name__}: {str(record)[:60]!r}. Expected bytes: write {remedy}."
    )
