"""Reading a compressed file piece by piece, without ever holding all of it."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

_COMPRESSED_BYTES = 1 << 18  # per read of the file


def inflated(file: BinaryIO, wbits: int, size: int) -> Iterator[bytes]:
    """The decompressed bytes of `file` in pieces of 1 to `size` bytes.

    Members that follow one another are one stream, as for `zcat`. Raises zlib.error for damaged data and EOFError
    where a member is cut off. A file of no bytes is a stream of no bytes.
    """
    compressed = file.read(_COMPRESSED_BYTES)
    while compressed:
        member = zlib.decompressobj(wbits)
        while not member.eof:
            # Asked even with nothing to feed: zlib may hold output that did not fit into `size`.
            piece = member.decompress(compressed, size)
            if piece:
                yield piece
            elif not compressed and not member.eof:
                raise EOFError
            compressed = member.unconsumed_tail or (b"" if member.eof else file.read(_COMPRESSED_BYTES))
        compressed = member.unused_data or file.read(_COMPRESSED_BYTES)
