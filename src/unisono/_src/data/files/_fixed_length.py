"""`FixedLengthFile`: files of records of equal length, from any position."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from os import PathLike, fspath
from typing import IO

_COMPRESSIONS = ("GZIP", "ZLIB")


class FixedLengthFile:
    """The records of a file between its header and its footer, as bytes.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "numbers"
    >>> _ = path.write_bytes(b"HEADaabbcc")
    >>> list(FixedLengthFile(path, 2, header_bytes=4).read())
    [(b'aa', 2), (b'bb', 4), (b'cc', 6)]
    """

    def __init__(
        self,
        path: str | PathLike[str],
        record_bytes: int,
        header_bytes: int = 0,
        footer_bytes: int = 0,
        compression: str | None = None,
    ) -> None:
        if record_bytes < 1 or header_bytes < 0 or footer_bytes < 0:
            raise ValueError(
                f"FixedLengthRecordDataset: expected record_bytes of at least 1, header_bytes and footer_bytes of at "
                f"least 0; got {record_bytes}, {header_bytes} and {footer_bytes}."
            )
        if compression and compression not in _COMPRESSIONS:
            raise ValueError(f"compression is {compression!r}; files may be plain (None), 'GZIP' or 'ZLIB'.")
        self._path, self._size = fspath(path), record_bytes
        self._header, self._footer, self._compression = header_bytes, footer_bytes, compression

    def read(self, offset: int = 0) -> Iterator[tuple[bytes, int]]:
        """Records from an offset behind the header on, each with the offset after it."""
        with self._open() as file:
            size = file.seek(0, os.SEEK_END)
            length = size - self._header - self._footer
            if length < 0 or length % self._size:
                raise ValueError(
                    f"{self._path} has {size} bytes. Without {self._header} of the header and {self._footer} of the "
                    f"footer that is no whole number of records of {self._size} bytes."
                )
            file.seek(self._header + offset)
            for stop in range(offset + self._size, length + 1, self._size):
                yield file.read(self._size), stop

    def _open(self) -> IO[bytes]:
        if not self._compression:
            return open(self._path, "rb", buffering=2**20)
        with open(self._path, "rb") as file:
            data = file.read()
        try:
            return io.BytesIO(gzip.decompress(data) if self._compression == "GZIP" else zlib.decompress(data))
        except (gzip.BadGzipFile, zlib.error, EOFError) as error:
            raise ValueError(
                f"{self._path} cannot be read as a {self._compression} file ({error}). It is damaged or not "
                f"compressed: leave compression_type out for a plain file."
            ) from error
