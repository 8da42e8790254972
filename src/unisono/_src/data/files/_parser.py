"""One set of features, and the layouts of the records that were parsed for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._feature_request import FeatureRequest
from unisono._src.data.files._features import FixedLenFeature, VarLenFeature
from unisono._src.data.files._layout import Layout, Parsed
from unisono._src.data.files._stored import Stored, find_features
from unisono._src.data.files._wire import ExampleError

_MOST_LENGTHS = 1024
_MOST_LAYOUTS = 8  # per length: writers that do not sort the names give a layout for each order
_MOST_PARSERS = 64

_parsers: dict[tuple[str, ...], tuple[Parser, ...]] = {}


class Parser:
    """Parses records for the same features again and again. Threads may share it: it replaces, it never changes."""

    def __init__(self, features: Mapping[str, FixedLenFeature | VarLenFeature]) -> None:
        self.specs = list(features.values())
        self._asked = [FeatureRequest(name, feature) for name, feature in features.items()]
        self._layouts: dict[int, tuple[Layout, ...]] = {}

    def one(self, data: bytes) -> Parsed:
        """The values of one record."""
        layouts = self._layouts.get(len(data))
        for layout in layouts or ():
            parsed = layout.parse(data)
            if parsed is not None:
                return parsed
        features = self._find(data)
        parsed = self._general(data, features)
        if layouts is None:  # a length that may never come again, as those of images do
            self._remember(len(data), ())
        else:
            self._learn(data, features)
        return parsed

    def general(self, data: bytes) -> Parsed:
        """The same, with nothing remembered: what `one` and `batch` have to agree with."""
        return self._general(data, self._find(data))

    def batch(self, records: Sequence[bytes]) -> Parsed:
        """The values of all records, stacked. Only FixedLenFeatures can be."""
        out = {each.name: np.empty((len(records), *each.shape), each.feature.dtype) for each in self._asked}
        rows_of: dict[int, list[int]] = {}
        for row, record in enumerate(records):
            rows_of.setdefault(len(record), []).append(row)
        for length, rows in rows_of.items():
            self._fill(out, np.array(rows), records, length)
        return out

    def _fill(self, out: Parsed, rows: NDArray[np.intp], records: Sequence[bytes], length: int) -> None:
        """Records of one length."""
        alike = [records[row] for row in rows.tolist()]
        matrix = np.frombuffer(b"".join(alike), np.uint8).reshape(len(alike), length)
        for layout in self._layouts.get(length, ()):
            rows, matrix = _fill_matching(layout, out, rows, records, matrix)
            if not rows.size:
                return
        for _ in range(_MOST_LAYOUTS):
            if rows.size < 2:
                break
            learnt = self._parse_row(out, records, int(rows[0]), learn=True)
            rows, matrix = rows[1:], matrix[1:]
            if learnt is not None:
                rows, matrix = _fill_matching(learnt, out, rows, records, matrix)
        for row in rows.tolist():
            self._parse_row(out, records, row, learn=False)

    def _parse_row(self, out: Parsed, records: Sequence[bytes], row: int, *, learn: bool) -> Layout | None:
        try:
            features = self._find(records[row])
            for name, value in self._general(records[row], features).items():
                out[name][row, ...] = value  # without the dots an object array would hold the array
        except ExampleError as error:
            raise ExampleError(f"record {row} of the batch: {error}") from None
        return self._learn(records[row], features) if learn else None

    def _find(self, data: bytes) -> dict[str, Stored]:
        try:
            return find_features(data)
        except ExampleError as error:
            raise ExampleError(f"these {len(data)} bytes are no serialized Example: {error}") from None

    def _general(self, data: bytes, features: dict[str, Stored]) -> Parsed:
        return {each.name: each.value(data, features.get(each.name)) for each in self._asked}

    def _learn(self, data: bytes, features: dict[str, Stored]) -> Layout | None:
        if not Layout.fits(features):
            return None
        layout = Layout(data, self._asked, features)
        self._remember(len(data), (layout, *self._layouts.get(len(data), ()))[:_MOST_LAYOUTS])
        return layout

    def _remember(self, length: int, layouts: tuple[Layout, ...]) -> None:
        if len(self._layouts) >= _MOST_LENGTHS:
            self._layouts = {}
        self._layouts[length] = layouts


def parser_for(features: Mapping[str, Any], call: str) -> Parser:
    """The parser of these features, the same one for equal features. `call` is what the user typed, for errors."""
    names = tuple(features)
    specs = list(features.values())
    known = _parsers.get(names, ())
    for parser in known:
        if parser.specs == specs:  # quick where they are the same objects, right where they are written anew
            return parser
    _check(features, call)
    parser = Parser(features)
    if len(_parsers) >= _MOST_PARSERS:
        _parsers.clear()
    _parsers[names] = (parser, *known)[:_MOST_PARSERS]
    return parser


def _check(features: Mapping[str, Any], call: str) -> None:
    if not features:
        raise ValueError(f"{call}: no features are asked for. Write {{'label': FixedLenFeature((), 'int64')}}.")
    for name, feature in features.items():
        if not isinstance(name, str) or not isinstance(feature, FixedLenFeature | VarLenFeature):
            raise TypeError(
                f"{call}: features has {name!r}: {feature!r}. Expected names with a FixedLenFeature or a "
                f"VarLenFeature: write {{'label': FixedLenFeature((), 'int64')}}."
            )


def _fill_matching(
    layout: Layout, out: Parsed, rows: NDArray[np.intp], records: Sequence[bytes], matrix: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Fill the rows that have this layout; the ones that are left, and their bytes."""
    matches = layout.matching(matrix)
    if matches.all():
        mine, bytes_of_mine = rows, matrix
    else:
        mine, bytes_of_mine = rows[matches], matrix[matches]
    every = len(mine) == len(records)
    chosen = records if every else [records[row] for row in mine.tolist()]
    if not len(mine) or not layout.fill(out, slice(None) if every else mine, chosen, bytes_of_mine):
        return rows, matrix
    return rows[~matches], matrix[~matches]
