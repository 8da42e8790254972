"""Text as bytes and bytes as text."""

from __future__ import annotations

import os
from typing import Any

NO_TEXT = "Expected text or bytes, got {value!r} ({kind})."


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes.

    >>> as_bytes("é")
    b'\\xc3\\xa9'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(NO_TEXT.format(value=bytes_or_text, kind=type(bytes_or_text).__name__))


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text.

    >>> as_text(b"a"), as_text("a")
    ('a', 'a')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(NO_TEXT.format(value=bytes_or_text, kind=type(bytes_or_text).__name__))


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The same as `as_text`."""
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Anything as text."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path as text; what is no path, as it is."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path
