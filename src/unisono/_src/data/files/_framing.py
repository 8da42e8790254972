"""How a record lies in a file: the checksum, the compressions, and the error for a file that breaks the rules.

A record is 8 bytes of length (little endian), 4 bytes of checksum of these, the payload, 4 bytes of its checksum.
"""

from __future__ import annotations

import struct
from typing import Final

import google_crc32c

HEADER: Final = struct.Struct("<QI")
FOOTER: Final = struct.Struct("<I")
_LENGTH: Final = struct.Struct("<Q")

# zlib's wbits: 31 reads and writes gzip members, 15 zlib streams.
_WBITS: Final = {"": None, "GZIP": 31, "ZLIB": 15}


class RecordError(ValueError):
    """A record file cannot be read: it is cut off, damaged, or compressed differently than it was said to be."""


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted, so that a checksum stored inside checksummed data does no harm.

    >>> hex(masked_crc(b"123456789"))
    '0xc78ab0e5'
    """
    crc: int = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def header(num_bytes: int) -> bytes:
    """The 12 bytes before a payload of `num_bytes`.

    >>> header(3).hex(" ")
    '03 00 00 00 00 00 00 00 b0 99 49 0e'
    """
    return HEADER.pack(num_bytes, masked_crc(_LENGTH.pack(num_bytes)))


def wbits(compression: str | None, call: str) -> int | None:
    """What zlib needs to know for this compression; None for none. `call` is what the user typed, for the error."""
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
    >>> guess_compression(header(3) + b"abc")
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
