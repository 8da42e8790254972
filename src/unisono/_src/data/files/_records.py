"""`RecordFile`: reading TFRecord files. The contents of a record are not interpreted here."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import google_crc32c

from unisono._src.data.files._framing import (
    FOOTER,
    HEADER,
    RecordError,
    decompress_chunks,
    encode_header,
    guess_compression,
    zlib_wbits,
)

_CHUNK_BYTES = 1 << 20
_MAX_HEADERS = 4096  # remembered; a file of equal records needs one


@dataclass(frozen=True)
class RecordFile:
    """A TFRecord file, read one record after the other. Every checksum is checked.

    >>> import tempfile, pathlib
    >>> from unisono.io import TFRecordWriter
    >>> path = pathlib.Path(tempfile.mkdtemp(), "two.tfrecord")
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"first")
    ...     writer.write(b"second")
    >>> [payload for payload, _ in RecordFile(path).read()]
    [b'first', b'second']

    Each payload comes with the position of the next one, to resume reading there:

    >>> _, position = next(RecordFile(path).read())
    >>> next(RecordFile(path).read(position))
    (b'second', 43)
    """

    path: str | os.PathLike[str]
    compression: str | None = None
    """None or "" for a plain file, "GZIP" or "ZLIB"."""

    def __post_init__(self) -> None:
        zlib_wbits(self.compression, "RecordFile")

    def read(self, offset: int = 0) -> Iterator[tuple[bytes, int]]:
        """The payloads from `offset` on, each with the offset of the record after it.

        Offsets count the bytes of the uncompressed stream. To reach one, a plain file is not read, a compressed
        one is decompressed up to there. Closing the iterator closes the file.
        """
        if offset < 0:
            raise ValueError(f"RecordFile.read: offset is {offset}. Expected 0, or an offset that read() gave.")
        return _RecordReader(self, offset).records()

    def open(self) -> BinaryIO:
        """The file itself, as it is on the disk."""
        try:
            return open(self.path, "rb", buffering=0)
        except FileNotFoundError:
            where = os.fspath(self.path)
            remedy = (
                "Only files of this machine are read: copy it here, or mount the bucket and write the mounted path."
                if "://" in where
                else f"Check the name, and the working directory, which is {os.getcwd()!r}."
            )
            raise FileNotFoundError(f"There is no record file {where!r}. {remedy}") from None


class _RecordReader:
    """One pass over one file: how far it is, and its errors."""

    def __init__(self, record_file: RecordFile, offset: int) -> None:
        self._record_file = record_file
        self._first_offset = offset
        self._wbits = zlib_wbits(record_file.compression, "RecordFile")
        self._offset = (
            offset  # of the record that is being read; like `_number`, updated only before an error can use it
        )
        self._number = 0

    def records(self) -> Iterator[tuple[bytes, int]]:
        with self._record_file.open() as file:
            # The innermost loop of every input pipeline: locals only, and no call that is not needed.
            crc_of, crc_at = google_crc32c.value, FOOTER.unpack_from
            chunks = self._chunks(file)
            lengths: dict[bytes, int] = {}  # of the headers whose checksum is known to be right
            chunk, at, size, base, number = b"", 0, 0, self._offset, 0
            while True:
                start = at + 12
                head = chunk[at:start]
                if head in lengths:
                    end = start + lengths[head]
                else:
                    self._offset, self._number = base + at, number
                    end = start
                    if start <= size:
                        end += self._decode_length(head, lengths)
                after = end + 4
                if after > size or start > size:
                    self._offset, self._number = base + at, number
                    base += at
                    chunk = self._extend(chunk[at:], 12 if start > size else after - at, chunks)
                    at, size = 0, len(chunk)
                    if not chunk:
                        return
                    continue
                payload = chunk[start:end]
                crc = crc_of(payload)
                if ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF != crc_at(chunk, end)[0]:
                    self._offset, self._number = base + at, number
                    raise self._error(
                        f"its {end - start} bytes do not match their checksum, so the file is damaged. "
                        f"Copy it again from where it came from, or write it again"
                    )
                at = after
                number += 1
                yield payload, base + at

    def _extend(self, rest: bytes, needed: int, chunks: Iterator[bytes]) -> bytes:
        """`rest` and what follows it, at least `needed` bytes. Empty at the end of the file."""
        pieces, size = [rest], len(rest)
        while size < needed:
            piece = next(chunks, b"")
            if not piece:
                if not size:
                    return b""
                raise self._error(
                    f"the file ends after {size} of its {needed} bytes{' of header' if needed == 12 else ''}. "
                    f"Was the writer closed, and is the copy complete? Write {self._name} again, or copy it again"
                )
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _decode_length(self, head: bytes, lengths: dict[bytes, int]) -> int:
        num_bytes: int = HEADER.unpack(head)[0]
        if head == encode_header(num_bytes):
            if len(lengths) == _MAX_HEADERS:
                lengths.clear()
            lengths[head] = num_bytes
            return num_bytes
        guess = guess_compression(head) if not self._offset and not self._wbits else None
        if guess:
            raise self._error(f"the file looks compressed. Write compression={guess!r}")
        if not self._number and self._first_offset:
            raise self._error(
                f"no record begins here. Expected an offset that read() gave for this very file, not "
                f"{self._first_offset}; start again with offset 0"
            )
        if not self._number:
            raise self._error("its length does not match its checksum. Is this a TFRecord file?")
        raise self._error(
            "its length does not match its checksum, so the file is damaged. "
            "Copy it again from where it came from, or write it again"
        )

    def _chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """The uncompressed bytes from the first offset on."""
        if self._wbits is not None:
            yield from self._decompressed_chunks(file, self._wbits)
            return
        size = os.fstat(file.fileno()).st_size
        if self._offset > size:
            raise self._offset_error(size)
        file.seek(self._offset)
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk

    def _decompressed_chunks(self, file: BinaryIO, bits: int) -> Iterator[bytes]:
        skip = self._first_offset
        try:
            for piece in decompress_chunks(file, bits, _CHUNK_BYTES):
                kept = piece[skip:]
                skip -= len(piece) - len(kept)
                if kept:
                    yield kept
        except EOFError:
            raise self._error(
                f"the compressed data ends too early. Was the writer closed, and is the copy complete? "
                f"Write {self._name} again, or copy it again"
            ) from None
        except zlib.error as error:
            raise self._decompression_error(file, error) from None
        if skip:
            raise self._offset_error(self._first_offset - skip)

    def _decompression_error(self, file: BinaryIO, error: zlib.error) -> RecordError:
        file.seek(0)
        guess = guess_compression(file.read(HEADER.size))
        stated = self._record_file.compression
        if guess == "":
            return self._error(f"the file is not compressed, but compression is {stated!r}. Leave compression out")
        if guess is not None and guess != stated:
            return self._error(f"the file looks like {guess}, but compression is {stated!r}. Write {guess!r}")
        return self._error(
            f"the {stated} data cannot be decompressed ({error}), so the file is damaged or no {stated} file. "
            f"Copy it again from where it came from"
        )

    def _offset_error(self, size: int) -> RecordError:
        return self._error(
            f"the file has only {size} bytes. Expected an offset that read() gave for this very file; "
            f"was it written again since?"
        )

    def _error(self, what: str) -> RecordError:
        counted = f" (counted from byte {self._first_offset})" if self._first_offset else ""
        stop = "" if what.endswith("?") else "."
        return RecordError(f"{self._name}: record {self._number}{counted} at byte {self._offset}: {what}{stop}")

    @property
    def _name(self) -> str:
        return repr(os.fspath(self._record_file.path))
