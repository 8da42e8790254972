"""The parser of one set of requested features, with the templates that it has learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._feature_request import FeatureRequest
from unisono._src.data.files._feature_spans import FeatureSpans, find_features
from unisono._src.data.files._features import FixedLenFeature, VarLenFeature
from unisono._src.data.files._record_template import Parsed, RecordTemplate
from unisono._src.data.files._wire import ExampleError

_MAX_LENGTHS = 1024
_MAX_TEMPLATES = 8  # per length: writers that do not sort the names give a template for each order
_MAX_PARSERS = 64

_parsers: dict[tuple[str, ...], tuple[Parser, ...]] = {}


class Parser:
    """Parses records for the same features again and again. Threads may share it: tuples are replaced, not changed."""

    def __init__(self, features: Mapping[str, FixedLenFeature | VarLenFeature]) -> None:
        self.specs = list(features.values())
        self._requests = [FeatureRequest(name, feature) for name, feature in features.items()]
        self._templates: dict[int, tuple[RecordTemplate, ...]] = {}

    def parse(self, data: bytes) -> Parsed:
        """The values of one record."""
        templates = self._templates.get(len(data))
        for template in templates or ():
            parsed = template.parse(data)
            if parsed is not None:
                return parsed
        features = self._find_spans(data)
        parsed = self._decode(data, features)
        if templates is None:  # a length that may never occur again, as those of images
            self._remember(len(data), ())
        else:
            self._learn(data, features)
        return parsed

    def parse_general(self, data: bytes) -> Parsed:
        """The same without templates: the reference that `parse` and `parse_batch` agree with."""
        return self._decode(data, self._find_spans(data))

    def parse_batch(self, records: Sequence[bytes]) -> Parsed:
        """The values of all records, stacked. Only FixedLenFeatures can be."""
        out = {each.name: np.empty((len(records), *each.shape), each.feature.dtype) for each in self._requests}
        rows_by_length: dict[int, list[int]] = {}
        for row, record in enumerate(records):
            rows_by_length.setdefault(len(record), []).append(row)
        for length, rows in rows_by_length.items():
            self._fill_rows(out, np.array(rows), records, length)
        return out

    def _fill_rows(self, out: Parsed, rows: NDArray[np.intp], records: Sequence[bytes], length: int) -> None:
        """Fills the rows of the records of one length."""
        same_length = [records[row] for row in rows.tolist()]
        matrix = np.frombuffer(b"".join(same_length), np.uint8).reshape(len(same_length), length)
        for template in self._templates.get(length, ()):
            rows, matrix = _fill_matching(template, out, rows, records, matrix)
            if not rows.size:
                return
        for _ in range(_MAX_TEMPLATES):
            if rows.size < 2:
                break
            learnt = self._parse_row(out, records, int(rows[0]), learn=True)
            rows, matrix = rows[1:], matrix[1:]
            if learnt is not None:
                rows, matrix = _fill_matching(learnt, out, rows, records, matrix)
        for row in rows.tolist():
            self._parse_row(out, records, row, learn=False)

    def _parse_row(self, out: Parsed, records: Sequence[bytes], row: int, *, learn: bool) -> RecordTemplate | None:
        try:
            features = self._find_spans(records[row])
            for name, value in self._decode(records[row], features).items():
                out[name][row, ...] = value  # without the dots an object array would hold the array
        except ExampleError as error:
            raise ExampleError(f"record {row} of the batch: {error}") from None
        return self._learn(records[row], features) if learn else None

    def _find_spans(self, data: bytes) -> dict[str, FeatureSpans]:
        try:
            return find_features(data)
        except ExampleError as error:
            raise ExampleError(f"these {len(data)} bytes are no serialized Example: {error}") from None

    def _decode(self, data: bytes, features: dict[str, FeatureSpans]) -> Parsed:
        return {each.name: each.value(data, features.get(each.name)) for each in self._requests}

    def _learn(self, data: bytes, features: dict[str, FeatureSpans]) -> RecordTemplate | None:
        if not RecordTemplate.can_describe(features):
            return None
        template = RecordTemplate(data, self._requests, features)
        self._remember(len(data), (template, *self._templates.get(len(data), ()))[:_MAX_TEMPLATES])
        return template

    def _remember(self, length: int, templates: tuple[RecordTemplate, ...]) -> None:
        if len(self._templates) >= _MAX_LENGTHS:
            self._templates = {}
        self._templates[length] = templates


def get_parser(features: Mapping[str, Any], call: str) -> Parser:
    """The parser of these features, the same one for equal features. `call` is what the user typed, for errors."""
    names = tuple(features)
    specs = list(features.values())
    known = _parsers.get(names, ())
    for parser in known:
        if parser.specs == specs:  # fast if they are the same objects, and true for equal ones
            return parser
    _check_features(features, call)
    parser = Parser(features)
    if len(_parsers) >= _MAX_PARSERS:
        _parsers.clear()
    _parsers[names] = (parser, *known)[:_MAX_PARSERS]
    return parser


def _check_features(features: Mapping[str, Any], call: str) -> None:
    if not features:
        raise ValueError(f"{call}: no features are requested. Write {{'label': FixedLenFeature((), 'int64')}}.")
    for name, feature in features.items():
        if not isinstance(name, str) or not isinstance(feature, FixedLenFeature | VarLenFeature):
            raise TypeError(
                f"{call}: features has {name!r}: {feature!r}. Expected names with a FixedLenFeature or a "
                f"VarLenFeature: write {{'label': FixedLenFeature((), 'int64')}}."
            )


def _fill_matching(
    template: RecordTemplate, out: Parsed, rows: NDArray[np.intp], records: Sequence[bytes], matrix: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Fills the rows that have this template. Returns the remaining rows, and their bytes."""
    matches = template.find_matching(matrix)
    if matches.all():
        matching_rows, matching_bytes = rows, matrix
    else:
        matching_rows, matching_bytes = rows[matches], matrix[matches]
    every = len(matching_rows) == len(records)
    chosen = records if every else [records[row] for row in matching_rows.tolist()]
    if not len(matching_rows) or not template.fill(
        out, slice(None) if every else matching_rows, chosen, matching_bytes
    ):
        return rows, matrix
    return rows[~matches], matrix[~matches]
