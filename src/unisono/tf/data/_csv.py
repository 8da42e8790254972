"""Rows of CSV files: columns of one dtype each."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unisono.tf._dtypes import DType, as_dtype, string
from unisono.tf._tensors import as_bytes
from unisono.tf.data._dataset import Dataset
from unisono.tf.data._tensors import as_data

UNEQUAL = "{path} has {found} fields in line {line}, expected {expected}."
NOT_A_COLUMN = "make_csv_dataset: {name!r} is no column. There are: {known}."
EMPTY = "{path}, line {line}: the field {column} is empty, and has no default."


class CsvDataset(Dataset):
    """One element for each line: a tuple of its fields.

    Args:
        filenames: files, read one after the other.
        record_defaults: for each column its default, or the dtype of a column that is always filled.
        compression_type: None or "GZIP".
        buffer_size: accepted, without effect.
        header: whether each file begins with a line of names.
        field_delim: what stands between fields.
        use_quote_delim: whether quotes enclose fields.
        na_value: text that counts as an empty field.
        select_cols: the numbers of the columns that are read; None for all.
        exclude_cols: the numbers of those that are not.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: str | None = None,
        buffer_size: int | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ) -> None:
        paths = _paths(filenames)
        rows = [row for path in paths for row in _rows(path, compression_type, field_delim, use_quote_delim, header)]
        numbers = select_cols if select_cols is not None else range(len(rows[0][2]) if rows else len(record_defaults))
        numbers = [number for number in numbers if number not in (exclude_cols or ())]
        if len(numbers) != len(record_defaults):
            raise ValueError(f"CsvDataset: {len(numbers)} columns and {len(record_defaults)} record_defaults.")
        columns = [
            _column(rows, number, default, na_value) for number, default in zip(numbers, record_defaults, strict=True)
        ]
        super().__init__(Dataset.from_tensor_slices(tuple(columns)).plan)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset:
    """Batches of rows of CSV files, as dicts of columns; with `label_name` pairs of these and the labels.

    A column is int32, int64, float32 or text: the first that fits all its fields, unless `column_defaults` says it.
    """
    paths = _paths(Dataset.list_files(file_pattern, shuffle=False))
    rows = [row for path in paths for row in _rows(path, compression_type, field_delim, use_quote_delim, header)]
    names = list(column_names or _header(paths[0], compression_type, field_delim, use_quote_delim, encoding))
    chosen = [names[each] if isinstance(each, int) else each for each in select_columns or names]
    for name in [*chosen, *([] if label_name is None else [label_name])]:
        if name not in names:
            raise ValueError(NOT_A_COLUMN.format(name=name, known=", ".join(names)))
    columns: dict[str, Any] = {}
    for place, name in enumerate(chosen):
        number = names.index(name)
        default = _inferred(rows, number, na_value) if column_defaults is None else column_defaults[place]
        columns[name] = _column(rows, number, default, na_value)
    labels = None if label_name is None else columns.pop(label_name)
    dataset: Any = Dataset.from_tensor_slices(columns if labels is None else (columns, labels))
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    made: Dataset = dataset.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None).prefetch(1)
    return made


def _paths(filenames: Any) -> list[str]:
    names = [filenames] if isinstance(filenames, str | bytes) else list(filenames)
    return [name.decode() if isinstance(name, bytes) else str(name) for name in map(_plain, names)]


def _plain(name: Any) -> Any:
    return name.numpy() if hasattr(name, "numpy") else name


def _rows(
    path: str, compression: str | None, delimiter: str, quotes: bool, header: bool
) -> Iterator[tuple[str, int, list[str]]]:
    """(file, line, fields) of each line."""
    expected: int | None = None
    with _opened(path, compression) as file:
        for line, fields in enumerate(csv.reader(file, delimiter=delimiter, quoting=_quoting(quotes)), start=1):
            if not fields or (header and line == 1):
                continue
            expected = len(fields) if expected is None else expected
            if len(fields) != expected:
                raise ValueError(UNEQUAL.format(path=path, found=len(fields), line=line, expected=expected))
            yield path, line, fields


def _header(path: str, compression: str | None, delimiter: str, quotes: bool, encoding: str) -> list[str]:
    with _opened(path, compression, encoding) as file:
        return next(csv.reader(file, delimiter=delimiter, quoting=_quoting(quotes)), [])


def _quoting(quotes: bool) -> Any:
    return csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE


def _opened(path: str, compression: str | None, encoding: str = "utf-8") -> Any:
    if compression not in (None, "", "GZIP"):
        raise ValueError(f"compression_type is {compression!r}; CSV files may be plain (None) or 'GZIP'.")
    return (gzip.open if compression else open)(path, "rt", encoding=encoding, newline="")


def _inferred(rows: Sequence[tuple[str, int, list[str]]], number: int, na_value: str) -> Any:
    """The default of a column: a zero of the first dtype that fits all its fields, or empty text."""
    fields = [fields[number] for _, _, fields in rows if fields[number] not in ("", na_value)]
    for dtype in (np.int32, np.int64, np.float32):
        try:
            np.array([int(field) if dtype != np.float32 else float(field) for field in fields]).astype(dtype)
            if dtype != np.int32 or all(-(2**31) <= int(field) < 2**31 for field in fields):
                return dtype(0)
        except (ValueError, OverflowError):
            continue
    return ""


def _column(rows: Sequence[tuple[str, int, list[str]]], number: int, default: Any, na_value: str) -> Any:
    """The fields of one column as an array; the default says the dtype, and what an empty field holds."""
    dtype, filling = _dtype_and_filling(default)
    fields: list[Any] = []
    for path, line, found in rows:
        empty = found[number] in ("", na_value)
        if empty and not filling:
            raise ValueError(EMPTY.format(path=path, line=line, column=number))
        fields.append(filling[0] if empty else found[number])
    if dtype == string:
        return np.array([as_bytes(field) for field in fields], object)
    return np.array([float(each) if dtype.is_floating else int(each) for each in fields]).astype(dtype.dtype)


def _dtype_and_filling(default: Any) -> tuple[DType, list[Any]]:
    """The dtype of a column, and what an empty field holds, if it may be empty."""
    if isinstance(default, DType | type | np.dtype):
        return as_dtype(default), []
    filling = np.asarray(as_data(default, "record_defaults"))
    return as_dtype(filling.dtype), filling.reshape(-1).tolist()
