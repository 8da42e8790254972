"""Values of callbacks in a checkpoint: encoded as JSON and arrays, and checked when they are read.

A checkpoint may come from somebody else, so a value is restored only under a name that the callback's class declares,
and only if it is of the declared kind. No kind admits a path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from unisono._src.state.store import JSON

Arrays = dict[str, np.ndarray[Any, Any]]

# Python's numbers hold every bit of these.
_NUMBERS: Final = frozenset(
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
)

NOT_ENCODED = "{found!r:.80} is not how a value is stored"


@dataclass(frozen=True)
class ValueKind:
    """What a declared attribute of a callback may be.

    >>> COUNT.admits(3), COUNT.admits("/etc/passwd"), NUMBERS.admits({"loss": [0.5, None]})
    (True, False, True)
    """

    description: str
    admits: Callable[[Any], bool]


def encode_value(value: Any, name: str, arrays: Arrays) -> JSON:
    """``value`` as JSON, with arrays added to ``arrays``. What is tagged keeps its type and all its bits."""
    if value is None or isinstance(value, str) or type(value) in (bool, int, float):
        return value
    if isinstance(value, dict):
        return {"dict": [[key, encode_value(item, f"{name}/{key}", arrays)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        items = [encode_value(item, f"{name}/{index}", arrays) for index, item in enumerate(value)]
        return {type(value).__name__ if type(value) is tuple else "list": items}
    if isinstance(value, np.generic) and value.dtype.name in _NUMBERS:
        return {"scalar": [value.dtype.name, value.item()]}
    arrays[name] = np.array(value)  # a copy; JAX's arrays too
    return {"array": name}


def decode_value(value: JSON, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Any:
    """What :func:`encode_value` was given; a ValueError for anything that it would not have written."""
    if not isinstance(value, dict | list):
        return value
    match value:
        case {"dict": list(pairs)} if len(value) == 1 and all(map(_is_pair, pairs)):
            return {key: decode_value(item, arrays) for key, item in pairs}
        case {"list": list(items)} if len(value) == 1:
            return [decode_value(item, arrays) for item in items]
        case {"tuple": list(items)} if len(value) == 1:
            return tuple(decode_value(item, arrays) for item in items)
        case {"scalar": [str(dtype), bool() | int() | float() as number]} if len(value) == 1 and dtype in _NUMBERS:
            return np.dtype(dtype).type(number)
        case {"array": str(name)} if len(value) == 1 and name in arrays:
            return np.array(arrays[name])
    raise ValueError(NOT_ENCODED.format(found=value))


def _is_pair(item: JSON) -> bool:
    return isinstance(item, list) and len(item) == 2 and isinstance(item[0], str | int | float | None)


def _is_count(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | np.bool_ | np.number)


def _holds_numbers(value: Any) -> bool:
    """Whether it is a number, an array of numbers, None, or a container of these."""
    if isinstance(value, dict):
        return all(map(_holds_numbers, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_holds_numbers, value))
    return _is_count(value) or isinstance(value, np.ndarray)


def _is_list_of(kind: Any) -> Callable[[Any], bool]:
    return lambda value: value is None or (isinstance(value, list) and all(isinstance(item, kind) for item in value))


def _is_history(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(logs, list) for logs in value.values())


COUNT: Final = ValueKind("a number", _is_count)
FLAG: Final = ValueKind("True or False", lambda value: isinstance(value, bool))
NUMBERS: Final = ValueKind("a number, an array, or a container of these", _holds_numbers)
ARRAYS: Final = ValueKind("a list of arrays", _is_list_of(np.ndarray | np.generic))
NAMES: Final = ValueKind("a list of names", _is_list_of(str))
EPOCHS: Final = ValueKind("a list of whole numbers", _is_list_of(int))
HISTORY: Final = ValueKind("a list for each name of a log", _is_history)
