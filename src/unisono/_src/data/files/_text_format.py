"""Messages as protobuf prints them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

_ESCAPES = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t", ord('"'): '\\"', ord("'"): "\\'", ord("\\"): "\\\\"}


def text_format(message: Any) -> str:
    """All that is in a message, by name, one thing a line."""
    return "".join(f"{line}\n" for line in _lines(message))


def _lines(message: Any) -> Iterator[str]:
    for field in dataclasses.fields(message):
        if field.repr:
            yield from _field(field.name, getattr(message, field.name))


def _field(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _block(name, [f"key: {_scalar(key)}", *_block("value", list(_lines(each)))])
    elif isinstance(value, list):
        for each in value:
            if dataclasses.is_dataclass(each):
                yield from _block(name, list(_lines(each)))
            else:
                yield f"{name}: {_scalar(each)}"
    elif value.SerializeToString():
        yield from _block(name, list(_lines(value)))


def _block(name: str, lines: list[str]) -> Iterator[str]:
    yield f"{name} {{"
    yield from (f"  {line}" for line in lines)
    yield "}"


def _scalar(value: Any) -> str:
    if isinstance(value, float):
        return str(np.float32(value)).removesuffix(".0")
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return (
            '"'
            + "".join(_ESCAPES.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in data)
            + '"'
        )
    return str(value)
