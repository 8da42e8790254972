"""Splits and their slices: "train", "train[:80%]", "train[100:200]+test"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

_PART: Final = re.compile(r"(?P<name>[\w-]+)(\[(?P<start>[^:\]]*):(?P<stop>[^:\]]*)\])?")
_BOUND: Final = re.compile(r"(?P<number>-?\d[\d_]*(\.\d+)?)(?P<unit>%|shard)?")

_WRONG_PART = """The split {part!r} cannot be parsed. Write its name, followed by rows or percent for a slice of it: \
'train', 'train[:80%]', 'train[100:200]', 'train[-10%:]'."""


class Split(StrEnum):
    """The names of splits, as constants."""

    TRAIN = "train"
    TEST = "test"
    VALIDATION = "validation"
    ALL = "all"


def parse_split(split: str, sizes: Mapping[str, int]) -> list[tuple[str, slice]]:
    """The rows that `split` names, as slices of the splits whose sizes are given.

    >>> parse_split("train[:10%]+test", {"train": 50, "test": 20})
    [('train', slice(0, 5, None)), ('test', slice(0, 20, None))]
    """
    rows: list[tuple[str, slice]] = []
    for part in split.split("+"):
        rows += _parse_part(part.strip(), sizes)
    return rows


def _parse_part(part: str, sizes: Mapping[str, int]) -> list[tuple[str, slice]]:
    if part == "all":
        return [(name, slice(0, size)) for name, size in sizes.items()]
    match = _PART.fullmatch(part)
    if match is None:
        raise ValueError(_WRONG_PART.format(part=part))
    name = match["name"]
    if name not in sizes:
        raise ValueError(f"There is no split {name!r}. The dataset has {', '.join(map(repr, sizes))}, and 'all'.")
    size = sizes[name]
    bounds = [_BOUND.fullmatch(text.strip()) for text in (match["start"] or "", match["stop"] or "")]
    for bound, text in zip(bounds, (match["start"], match["stop"]), strict=True):
        if bound is None and text:
            raise ValueError(_WRONG_PART.format(part=part))
    unit = next(
        (bound["unit"] for bound in bounds if bound and bound["unit"]), ""
    )  # given once, it applies to both bounds
    start, stop = (_row_index(bound, unit, size, part) for bound in bounds)
    return [(name, slice(0 if start is None else start, size if stop is None else stop))]


def _row_index(bound: re.Match[str] | None, unit: str, size: int, part: str) -> int | None:
    """The index of a row, counted from the start."""
    if bound is None:
        return None
    number = float(bound["number"])
    if unit == "shard":
        raise ValueError(f"The split {part!r} asks for shards, which are not supported. Give rows or percent.")
    if unit == "%":
        row = round(number * size / 100)
    elif number.is_integer():
        row = int(number)
    else:
        raise ValueError(_WRONG_PART.format(part=part))
    if abs(row) > size:
        raise ValueError(f"The split {part!r} asks for row {row} of {size}.")
    return row + size if row < 0 else row
