"""The format of a TFRecord file: checksum, header, compression, and the error for a file that violates it.

A record is 8 bytes of length (little endian), 4 bytes of checksum of these, the payload, 4 bytes of its checksum.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Final

import google_crc32c

HEADER: Final = struct.Struct("<QI")
FOOTER: Final = struct.Struct("<I")
_LENGTH: Final = struct.Struct("<Q")
_COMPRESSED_BYTES: Final = 1 << 18  # per read of a compressed file
# zlib's wbits: 31 reads and writes gzip members, 15 zlib streams.
_WBITS: Final = {"": None, "GZIP": 31, "ZLIB": 15}


class RecordError(ValueError):
    """A record file cannot be read: it is cut off, damaged, or not compressed as stated."""


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted, so that a checksum stored inside checksummed data does no harm.

    >>> hex(masked_crc(b"123456789"))
    '0xc78ab0e5'
    """
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def encode_header(num_bytes: int) -> bytes:
    """The 12 bytes before a payload of `num_bytes`.

    >>> encode_header(3).hex(" ")
    '03 00 00 00 00 00 00 00 b0 99 49 0e'
    """
    return HEADER.pack(num_bytes, masked_crc(_LENGTH.pack(num_bytes)))


def zlib_wbits(compression: str | None, call: str) -> int | None:
    """zlib's `wbits` for this compression; None for a plain file. `call` is what the user typed, for the error."""
    name = compression or ""
    if not isinstance(name, str) or name not in _WBITS:
        raise ValueError(
            f"{call}: compression is {compression!r}. Expected None, '', 'GZIP' or 'ZLIB': "
            f"write {call}(path, 'GZIP') for files that end in .gz, {call}(path) for plain ones."
        )
    return _WBITS[name]


def guess_compression(head: bytes) -> str | None:
    """What a file's first bytes look like: '' is a plain record file, None is something else.

    >>> guess_compression(b"\\x1f\\x8b\\x08")
    'GZIP'
    >>> guess_compression(encode_header(3) + b"abc")
    ''
    """
    if len(head) >= HEADER.size:
        num_bytes, crc = HEADER.unpack_from(head)
        if crc == masked_crc(_LENGTH.pack(num_bytes)):
            return ""
    if head[:2] == b"\x1f\x8b":
        return "GZIP"
    if len(head) >= 2 and head[0] == 0x78 and int.from_bytes(head[:2], "big") % 31 == 0:
        return "ZLIB"
    return None


def decompress_chunks(file: BinaryIO, wbits: int, size: int) -> Iterator[bytes]:
    """The decompressed bytes of `file` in pieces of 1 to `size` bytes, without ever holding all of it.

    Members that follow one another are one stream, as for `zcat`. Raises zlib.error for damaged data and EOFError
    where a member is cut off. A file of no bytes is a stream of no bytes.
    """
    compressed = file.read(_COMPRESSED_BYTES)
    while compressed:
        member = zlib.decompressobj(wbits)
        while not member.eof:
            # Called even with nothing to feed: zlib may hold output that did not fit into `size`.
            piece = member.decompress(compressed, size)
            if piece:
                yield piece
            elif not compressed and not member.eof:
                raise EOFError
            compressed = member.unconsumed_tail or (b"" if member.eof else file.read(_COMPRESSED_BYTES))
        compressed = member.unused_data or file.read(_COMPRESSED_BYTES)
