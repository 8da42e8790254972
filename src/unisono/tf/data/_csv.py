"""`CsvDataset` and `make_csv_dataset`: rows of CSV files, with one dtype for each column."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unisono.tf._dtypes import DType, as_dtype, string
from unisono.tf._tensors import as_bytes
from unisono.tf.data._conversions import to_arrays
from unisono.tf.data._dataset import Dataset

WRONG_FIELD_COUNT = "{path}, line {line}: found {found} fields, expected {expected}."
NOT_A_COLUMN = "make_csv_dataset: {name!r} is not a column. Expected one of: {known}."
EMPTY_FIELD = "{path}, line {line}: field {column} is empty, and has no default."


class CsvDataset(Dataset):
    """One element for each line: the tuple of its fields.

    Args:
        filenames: files, read one after the other.
        record_defaults: for each column its default value, or the dtype of a column that is never empty.
        compression_type: None or "GZIP".
        buffer_size: accepted, without effect.
        header: whether the first line of each file has the names of the columns.
        field_delim: the separator of fields.
        use_quote_delim: whether quotes enclose fields.
        na_value: text that counts as an empty field.
        select_cols: the indices of the columns to read; None for all.
        exclude_cols: the indices of the columns to skip.
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
        paths = _to_paths(filenames)
        rows = [
            row for path in paths for row in _read_rows(path, compression_type, field_delim, use_quote_delim, header)
        ]
        indices = select_cols if select_cols is not None else range(len(rows[0][2]) if rows else len(record_defaults))
        indices = [index for index in indices if index not in (exclude_cols or ())]
        if len(indices) != len(record_defaults):
            raise ValueError(
                f"CsvDataset: got {len(record_defaults)} record_defaults, expected {len(indices)}, one for each column."
            )
        columns = [
            _parse_column(rows, index, default, na_value)
            for index, default in zip(indices, record_defaults, strict=True)
        ]
        super().__init__(Dataset.from_tensor_slices(tuple(columns))._plan)


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
    """Batches of rows of CSV files, as dicts of columns; with `label_name` pairs of dicts and labels.

    A column is int32, int64, float32 or text: the first that fits all its fields, unless `column_defaults` is given.
    """
    paths = _to_paths(Dataset.list_files(file_pattern, shuffle=False))
    rows = [row for path in paths for row in _read_rows(path, compression_type, field_delim, use_quote_delim, header)]
    names = list(column_names or _read_header(paths[0], compression_type, field_delim, use_quote_delim, encoding))
    chosen = [names[each] if isinstance(each, int) else each for each in select_columns or names]
    for name in [*chosen, *([] if label_name is None else [label_name])]:
        if name not in names:
            raise ValueError(NOT_A_COLUMN.format(name=name, known=", ".join(names)))
    columns: dict[str, Any] = {}
    for position, name in enumerate(chosen):
        index = names.index(name)
        default = _infer_default(rows, index, na_value) if column_defaults is None else column_defaults[position]
        columns[name] = _parse_column(rows, index, default, na_value)
    labels = None if label_name is None else columns.pop(label_name)
    dataset: Any = Dataset.from_tensor_slices(columns if labels is None else (columns, labels))
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    batches: Dataset = dataset.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None).prefetch(1)
    return batches


def _to_paths(filenames: Any) -> list[str]:
    names = [filenames] if isinstance(filenames, str | bytes) else list(filenames)
    return [name.decode() if isinstance(name, bytes) else str(name) for name in map(_to_plain, names)]


def _to_plain(name: Any) -> Any:
    return name.numpy() if hasattr(name, "numpy") else name


def _read_rows(
    path: str, compression: str | None, delimiter: str, quotes: bool, header: bool
) -> Iterator[tuple[str, int, list[str]]]:
    """Yields (file, line, fields) for each line."""
    expected: int | None = None
    with _open(path, compression) as file:
        for line, fields in enumerate(csv.reader(file, delimiter=delimiter, quoting=_quoting(quotes)), start=1):
            if not fields or (header and line == 1):
                continue
            expected = len(fields) if expected is None else expected
            if len(fields) != expected:
                raise ValueError(WRONG_FIELD_COUNT.format(path=path, found=len(fields), line=line, expected=expected))
            yield path, line, fields


def _read_header(path: str, compression: str | None, delimiter: str, quotes: bool, encoding: str) -> list[str]:
    with _open(path, compression, encoding) as file:
        return next(csv.reader(file, delimiter=delimiter, quoting=_quoting(quotes)), [])


def _quoting(quotes: bool) -> Any:
    return csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE


def _open(path: str, compression: str | None, encoding: str = "utf-8") -> Any:
    if compression not in (None, "", "GZIP"):
        raise ValueError(f"compression_type is {compression!r}. Expected None or 'GZIP'.")
    return (gzip.open if compression else open)(path, "rt", encoding=encoding, newline="")


def _infer_default(rows: Sequence[tuple[str, int, list[str]]], index: int, na_value: str) -> Any:
    """Infers the default of a column: zero in the first dtype that fits all its fields, or an empty string."""
    fields = [fields[index] for _, _, fields in rows if fields[index] not in ("", na_value)]
    for dtype in (np.int32, np.int64, np.float32):
        try:
            np.array([int(field) if dtype != np.float32 else float(field) for field in fields]).astype(dtype)
            if dtype != np.int32 or all(-(2**31) <= int(field) < 2**31 for field in fields):
                return dtype(0)
        except (ValueError, OverflowError):
            continue
    return ""


def _parse_column(rows: Sequence[tuple[str, int, list[str]]], index: int, default: Any, na_value: str) -> Any:
    """Parses one column into an array; the default determines the dtype and the value of empty fields."""
    dtype, fill_value = _parse_default(default)
    fields: list[Any] = []
    for path, line, found in rows:
        empty = found[index] in ("", na_value)
        if empty and not fill_value:
            raise ValueError(EMPTY_FIELD.format(path=path, line=line, column=index))
        fields.append(fill_value[0] if empty else found[index])
    if dtype == string:
        return np.array([as_bytes(field) for field in fields], object)
    return np.array([float(each) if dtype.is_floating else int(each) for each in fields]).astype(dtype.dtype)


def _parse_default(default: Any) -> tuple[DType, list[Any]]:
    """The dtype of a column, and the value of an empty field; an empty list if no field may be empty."""
    if isinstance(default, DType | type | np.dtype):
        return as_dtype(default), []
    fill_value = np.asarray(to_arrays(default, "record_defaults"))
    return as_dtype(fill_value.dtype), fill_value.reshape(-1).tolist()
