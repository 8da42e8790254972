"""`TextFile`: text files line by line, from any position."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from os import PathLike, fspath
from typing import IO

_COMPRESSIONS = (None, "", "GZIP")


class TextFile:
    """The lines of a file, as bytes, without their ends.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "words.txt"
    >>> _ = path.write_bytes(b"one\\r\\ntwo")
    >>> list(TextFile(path).read())
    [(b'one', 5), (b'two', 8)]
    """

    def __init__(self, path: str | PathLike[str], compression: str | None = None) -> None:
        if compression not in _COMPRESSIONS:
            raise ValueError(f"compression is {compression!r}; text files may be plain (None) or 'GZIP'.")
        self._path, self._compression = fspath(path), compression

    def read(self, offset: int = 0) -> Iterator[tuple[bytes, int]]:
        """Lines from a byte of the (uncompressed) file on, each with the offset of the line after it."""
        with self._open() as file:
            file.seek(offset)
            try:
                for line in file:
                    offset += len(line)
                    yield line.removesuffix(b"\n").removesuffix(b"\r"), offset
            except (gzip.BadGzipFile, zlib.error, EOFError) as error:
                raise ValueError(
                    f"{self._path} cannot be read as a GZIP file near byte {offset} of its text ({error}). It is "
                    f"damaged or not compressed: leave compression_type out for a plain file."
                ) from error

    def _open(self) -> IO[bytes] | gzip.GzipFile:
        if self._compression == "GZIP":
            return gzip.open(self._path, "rb")
        return open(self._path, "rb", buffering=2**20)
