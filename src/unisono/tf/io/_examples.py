"""`parse_example` and `parse_single_example`, on the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.data import files
from unisono.tf import errors
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.io._bytes import byte_strings, one_byte_string

NEEDS_ALLOW_MISSING = """tf.io.FixedLenSequenceFeature for {name!r}: allow_missing is False. Expected True: rows that
are shorter than the longest one of the batch are filled up."""


class FixedLenFeature(files.FixedLenFeature):
    """A feature with as many values in every record: a shape, a dtype, and what a record gets that has none."""

    def __init__(self, shape: Any, dtype: Any, default_value: Any = None) -> None:
        super().__init__(tuple(shape), as_dtype(dtype).dtype, default_value)


class VarLenFeature(files.VarLenFeature):
    """A feature with any number of values. They come dense: a batch is filled up with zeros or empty strings."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(as_dtype(dtype).dtype)


@dataclass(frozen=True)
class FixedLenSequenceFeature:
    """A feature with any number of values, all of one shape. A batch is filled up with ``default_value``."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, HostTensor]:
    """The features of one serialized `tf.train.Example`, by name."""
    record = one_byte_string(serialized, "tf.io.parse_single_example")
    parsed = _single(record, features)
    return {key: to_host_tensor(value) for key, value in parsed.items()}


def parse_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, HostTensor]:
    """The features of a batch of serialized `tf.train.Example`s, by name."""
    records = byte_strings(serialized, "tf.io.parse_example")
    if records.ndim == 0:
        return parse_single_example(serialized, features)
    fixed = {key: feature for key, feature in features.items() if isinstance(feature, files.FixedLenFeature)}
    others = {key: feature for key, feature in features.items() if key not in fixed}
    parsed: dict[str, Any] = _checked(lambda: files.parse_example(records.tolist(), fixed)) if fixed else {}
    if others:
        rows = [_single(record, others) for record in records.tolist()]
        parsed |= {key: _stacked([row[key] for row in rows], feature) for key, feature in others.items()}
    return {key: to_host_tensor(parsed[key]) for key in features}


def _single(record: bytes, features: Mapping[str, Any]) -> dict[str, Any]:
    asked = {key: _as_asked(key, feature) for key, feature in features.items()}
    parsed: dict[str, Any] = _checked(lambda: files.parse_single_example(record, asked))
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            shape = tuple(feature.shape)
            size = int(np.prod(shape))
            if parsed[key].size % size:
                said = f"tf.io.parse_example: {key!r} has {parsed[key].size} values, no whole number of {shape}."
                raise errors.InvalidArgumentError(None, None, said)
            parsed[key] = parsed[key].reshape(-1, *shape)
    return parsed


def _as_asked(name: str, feature: Any) -> Any:
    if not isinstance(feature, FixedLenSequenceFeature):
        return feature
    if not feature.allow_missing:
        raise ValueError(NEEDS_ALLOW_MISSING.format(name=name))
    return VarLenFeature(feature.dtype)


def _stacked(rows: list[Any], feature: Any) -> Any:
    """Rows of different lengths as one array, filled up at their ends."""
    longest = max((len(row) for row in rows), default=0)
    default = getattr(feature, "default_value", None)
    if default is None:
        default = b"" if rows and rows[0].dtype == np.dtype(object) else 0
    made = np.full((len(rows), longest, *rows[0].shape[1:]), default, rows[0].dtype)
    for place, row in zip(made, rows, strict=True):
        place[: len(row)] = row
    return made


def _checked(parse: Any) -> Any:
    try:
        return parse()
    except files.ExampleError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.io.{error}") from error
