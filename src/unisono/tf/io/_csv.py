"""`tf.io.decode_csv`."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.tf import errors
from unisono.tf._dtypes import DType, as_dtype, string
from unisono.tf._tensors import HostTensor, convert_to_tensor, to_host_tensor
from unisono.tf.io._bytes import to_byte_strings


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[HostTensor]:
    """Parses lines of CSV; returns a tensor for each column, in the shape of ``records``.

    >>> [column.numpy().tolist() for column in decode_csv(["1,a", "2,"], [[0], ["none"]])]
    [[1, 2], [b'a', b'none']]

    Args:
        records: lines.
        record_defaults: for each column the value of missing fields, whose dtype is the column's; an empty tensor or
            a dtype if no field may be missing.
        field_delim: the separator of fields.
        use_quote_delim: whether quotation marks enclose fields.
        na_value: another text that marks a missing field.
        select_cols: the indices of the columns, ascending; all if None.
        name: accepted, without effect.
    """
    lines = to_byte_strings(records, "tf.io.decode_csv")
    columns = [_Column(default) for default in record_defaults]
    rows = []
    for number, line in enumerate(lines.ravel().tolist()):
        text = [line.decode()]
        fields = next(
            csv.reader(text, delimiter=field_delim)
            if use_quote_delim
            else csv.reader(text, delimiter=field_delim, quoting=csv.QUOTE_NONE),
            [""],
        )
        if select_cols is not None:
            fields = [fields[index] for index in select_cols if index < len(fields)]
        if len(fields) != len(columns):
            message = (
                f"tf.io.decode_csv: expected {len(columns)} fields, got {len(fields)} in record {number}: {line!r}."
            )
            raise errors.InvalidArgumentError(None, None, message)
        pairs = enumerate(zip(columns, fields, strict=True))
        rows.append([column.parse(text, na_value, index, number) for index, (column, text) in pairs])
    return [column.to_tensor([row[index] for row in rows], lines.shape) for index, column in enumerate(columns)]


class _Column:
    """One column: its dtype, and the value of missing fields, if they are allowed."""

    def __init__(self, default: Any) -> None:
        required = isinstance(default, DType)
        default_array = None if required else np.asarray(convert_to_tensor(default))
        self._dtype = as_dtype(default if default_array is None else default_array.dtype)
        self._default = None if default_array is None or default_array.size == 0 else default_array.ravel()[0]

    def parse(self, text: str, na_value: str, field: int, record: int) -> Any:
        if text in ("", na_value):
            if self._default is None:
                raise errors.InvalidArgumentError(
                    None, None, f"tf.io.decode_csv: field {field} is required, but missing in record {record}."
                )
            return self._default.encode() if isinstance(self._default, str) else self._default
        if self._dtype == string:
            return text.encode()
        try:
            return self._dtype.as_numpy_dtype(text)
        except (ValueError, OverflowError) as error:
            message = f"tf.io.decode_csv: field {field} in record {record} is not a valid {self._dtype.name}: {text!r}."
            raise errors.InvalidArgumentError(None, None, message) from error

    def to_tensor(self, values: list[Any], shape: tuple[int, ...]) -> HostTensor:
        array = np.empty(len(values), self._dtype.dtype)
        array[:] = values
        return to_host_tensor(array.reshape(shape))
