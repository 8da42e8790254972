"""Strict JSON: `dumps` refuses what would not come back as it was, `loads` what `dumps` would not have written."""

from __future__ import annotations

import json
import math
from typing import Any

JSON = Any
"""What JSON can store: dicts with strings as keys, lists, strings, whole numbers, floats, True, False and None."""

_MAX_LEVELS = 100  # far from the recursion limit, however deep the caller's stack is
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def dumps(value: JSON) -> bytes:
    """The value as compact ASCII, keys in their order: equal values of equal order give equal bytes.

    JSON has no nan and no inf. They are written as {"$float": "nan"}, and a key that begins with $ gets one more, so
    that no other dict can be mistaken for them.

    >>> dumps({"loss": float("nan"), "$x": (1, 2.5)})
    b'{"loss":{"$float":"nan"},"$$x":[1,2.5]}'
    >>> dumps({"seeds": [1, {2: 3}]})
    Traceback (most recent call last):
    TypeError: state['seeds'][1] has the key 2, a int. JSON has strings as keys: write '2'.
    """
    try:
        plain = _plain(value, 0)
    except _NotJSONError as error:
        where = "".join(f"[{key!r}]" for key in reversed(error.keys[-10:])) + ("…" if len(error.keys) > 10 else "")
        raise error.kind(f"state{where} {error.what}") from None
    return json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()


def loads(data: bytes) -> JSON:
    """What `dumps` was given (tuples come back as lists). Anything else about the bytes is a ValueError.

    >>> loads(b'{"loss":{"$float":"-inf"},"$$x":[1,2.5]}')
    {'loss': -inf, '$x': [1, 2.5]}
    >>> loads(b'{"a":1,"a":2}')
    Traceback (most recent call last):
    ValueError: the key 'a' is there twice
    """
    try:
        parsed = json.loads(data.decode(), object_pairs_hook=_refuse_duplicate_keys, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return _parsed_value(parsed, 0)


class _NotJSONError(Exception):
    """A value that JSON cannot store; the keys that lead to it are collected on the way out."""

    def __init__(self, kind: type[Exception], what: str) -> None:
        self.kind = kind
        self.what = what
        self.keys: list[str | int] = []


def _plain(value: JSON, level: int) -> JSON:
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(float(value))}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if level == _MAX_LEVELS:
        raise _NotJSONError(ValueError, f"is nested more than {_MAX_LEVELS} levels deep, or contains itself.")
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                problem = f"has the key {key!r}, a {type(key).__name__}. JSON has strings as keys: write {str(key)!r}."
                raise _NotJSONError(TypeError, problem)
        pairs = ((key, f"${key}" if key.startswith("$") else key, item) for key, item in value.items())
        return {written: _plain_item(item, key, level) for key, written, item in pairs}
    if isinstance(value, list | tuple):
        return [_plain_item(item, index, level) for index, item in enumerate(value)]
    raise _NotJSONError(
        TypeError,
        f"is a {type(value).__module__}.{type(value).__name__}, which JSON does not have. Expected dict, list, str, "
        f"int, float, bool or None: write x.item() for a NumPy scalar, and put arrays among the arrays.",
    )


def _plain_item(item: JSON, key: str | int, level: int) -> JSON:
    try:
        return _plain(item, level + 1)
    except _NotJSONError as error:
        error.keys.append(key)
        raise


def _parsed_value(parsed: JSON, level: int) -> JSON:
    if not isinstance(parsed, dict | list):
        return parsed
    if isinstance(parsed, dict) and parsed.keys() == {"$float"}:
        name = parsed["$float"]
        if not isinstance(name, str) or name not in _FLOATS:
            raise ValueError(f"{str(name)[:60]!r} is none of {', '.join(_FLOATS)}")
        return _FLOATS[name]
    if level == _MAX_LEVELS:
        raise ValueError("it is nested too deeply")
    if isinstance(parsed, list):
        return [_parsed_value(item, level + 1) for item in parsed]
    return {_key(key): _parsed_value(item, level + 1) for key, item in parsed.items()}


def _key(key: str) -> str:
    if key.startswith("$") and not key.startswith("$$"):
        raise ValueError(f"the key {key[:60]!r} has one $, expected none or two")
    return key.removeprefix("$")


def _refuse_duplicate_keys(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    found: dict[str, JSON] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key[:60]!r} is there twice")
        found[key] = value
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
