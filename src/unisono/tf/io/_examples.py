"""`tf.io.parse_example`, `tf.io.parse_single_example` and the classes of features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.data import files
from unisono.tf import errors
from unisono.tf._dtypes import as_dtype
from unisono.tf._tensors import to_host_tensor
from unisono.tf.io import _ragged_features as ragged_features
from unisono.tf.io._bytes import to_byte_string, to_byte_strings
from unisono.tf.sparse._sparse_tensor import SparseTensor

NEEDS_ALLOW_MISSING = """tf.io.FixedLenSequenceFeature for {name!r}: allow_missing is False. Expected True: rows
that are shorter than the longest of the batch are padded."""


class FixedLenFeature(files.FixedLenFeature):
    """A feature with one shape in every record. ``default_value`` is used for records without it."""

    def __init__(self, shape: Any, dtype: Any, default_value: Any = None) -> None:
        super().__init__(tuple(shape), as_dtype(dtype).dtype, default_value)


class VarLenFeature(files.VarLenFeature):
    """A feature with any number of values, parsed as a sparse tensor."""

    def __init__(self, dtype: Any) -> None:
        super().__init__(as_dtype(dtype).dtype)


@dataclass(frozen=True)
class FixedLenSequenceFeature:
    """A feature with any number of values of one shape. Batches are padded with ``default_value``."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


def parse_single_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Parses one serialized `tf.train.Example` into a dict of features."""
    record = to_byte_string(serialized, "tf.io.parse_single_example")
    ragged = ragged_features.only(features)
    sources = ragged_features.sources(ragged)
    others = {key: feature for key, feature in features.items() if key not in ragged}
    parsed = _parse_record(record, others) if others or not ragged else {}
    columns = _parse_record(record, sources) if sources else {}
    found: dict[str, Any] = {}
    for key, feature in features.items():
        if key in ragged:
            found[key] = ragged_features.build(feature, key, columns)
            continue
        is_sparse = isinstance(feature, VarLenFeature)
        found[key] = _row_to_sparse(parsed[key]) if is_sparse else to_host_tensor(parsed[key])
    return found


def parse_example(
    serialized: Any, features: Mapping[str, Any], example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """Parses a batch of serialized `tf.train.Example`s into a dict of features."""
    records = to_byte_strings(serialized, "tf.io.parse_example")
    if records.ndim == 0:
        return parse_single_example(serialized, features)
    fixed = {key: feature for key, feature in features.items() if isinstance(feature, files.FixedLenFeature)}
    ragged = ragged_features.only(features)
    variable = {key: feature for key, feature in features.items() if key not in fixed and key not in ragged}
    parsed: dict[str, Any] = _translate_errors(lambda: files.parse_example(records.tolist(), fixed)) if fixed else {}
    if variable:
        rows = [_parse_record(record, variable) for record in records.tolist()]
        for key, feature in variable.items():
            column = [row[key] for row in rows]
            is_sparse = isinstance(feature, VarLenFeature)
            parsed[key] = _rows_to_sparse(column) if is_sparse else to_host_tensor(_stack_padded(column, feature))
    if ragged:
        columns = [_parse_record(record, ragged_features.sources(ragged)) for record in records.tolist()]
        for key, feature in ragged.items():
            parsed[key] = ragged_features.build_batch(feature, key, columns)
    return {key: to_host_tensor(each) if isinstance(each := parsed[key], np.ndarray) else each for key in features}


def _parse_record(record: bytes, features: Mapping[str, Any]) -> dict[str, Any]:
    parsed_as = {key: _to_parsed_feature(key, feature) for key, feature in features.items()}
    parsed: dict[str, Any] = _translate_errors(lambda: files.parse_single_example(record, parsed_as))
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            shape = tuple(feature.shape)
            size = int(np.prod(shape))
            if parsed[key].size % size:
                message = f"tf.io.parse_example: {key!r} {parsed[key].size} values do not fill rows of shape {shape}."
                raise errors.InvalidArgumentError(None, None, message)
            parsed[key] = parsed[key].reshape(-1, *shape)
    return parsed


def _to_parsed_feature(name: str, feature: Any) -> Any:
    if not isinstance(feature, FixedLenSequenceFeature):
        return feature
    if not feature.allow_missing:
        raise ValueError(NEEDS_ALLOW_MISSING.format(name=name))
    return VarLenFeature(feature.dtype)


def _row_to_sparse(values: Any) -> SparseTensor:
    return SparseTensor(np.arange(len(values))[:, None], to_host_tensor(values), (len(values),))


def _rows_to_sparse(rows: list[Any]) -> SparseTensor:
    """A row of the sparse tensor for each record, with its values in the first columns."""
    return SparseTensor.stack_leaves([_row_to_sparse(row) for row in rows])


def _stack_padded(rows: list[Any], feature: Any) -> Any:
    """Stacks rows of different lengths, padded at their ends."""
    longest = max((len(row) for row in rows), default=0)
    default = getattr(feature, "default_value", None)
    if default is None:
        default = b"" if rows and rows[0].dtype == np.dtype(object) else 0
    stacked = np.full((len(rows), longest, *rows[0].shape[1:]), default, rows[0].dtype)
    for target, row in zip(stacked, rows, strict=True):
        target[: len(row)] = row
    return stacked


def _translate_errors(parse: Any) -> Any:
    try:
        return parse()
    except files.ExampleError as error:
        raise errors.InvalidArgumentError(None, None, f"tf.io.{error}") from error
