"""`decode_csv`: columns out of lines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import numpy as np

from unisono.tf import errors
from unisono.tf._dtypes import DType, as_dtype, string
from unisono.tf._tensors import HostTensor, convert_to_tensor, to_host_tensor
from unisono.tf.io._bytes import byte_strings


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[HostTensor]:
    """A tensor for each column, in the shape of ``records``.

    >>> [column.numpy().tolist() for column in decode_csv(["1,a", "2,"], [[0], ["none"]])]
    [[1, 2], [b'a', b'none']]

    Args:
        records: lines.
        record_defaults: for each column a value that stands for a missing one, whose dtype is the column's; an empty
            tensor, or a dtype, if none may be missing.
        field_delim: what stands between fields.
        use_quote_delim: whether quotation marks hold a field together.
        na_value: a text that stands for a missing value, beside the empty one.
        select_cols: the numbers of the columns, ascending; all if None.
        name: accepted, without effect.
    """
    lines = byte_strings(records, "tf.io.decode_csv")
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
            said = f"tf.io.decode_csv: expected {len(columns)} fields, got {len(fields)} in record {number}: {line!r}."
            raise errors.InvalidArgumentError(None, None, said)
        pairs = enumerate(zip(columns, fields, strict=True))
        rows.append([column.value(text, na_value, index, number) for index, (column, text) in pairs])
    return [column.tensor([row[index] for row in rows], lines.shape) for index, column in enumerate(columns)]


class _Column:
    """One column: its dtype, and what stands for a missing value, if anything may."""

    def __init__(self, default: Any) -> None:
        required = isinstance(default, DType)
        tensor = None if required else np.asarray(convert_to_tensor(default))
        self._dtype = default if tensor is None else as_dtype(tensor.dtype)
        self._default = None if tensor is None or tensor.size == 0 else tensor.ravel()[0]

    def value(self, text: str, na_value: str, field: int, record: int) -> Any:
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
            said = f"tf.io.decode_csv: field {field} in record {record} is no {self._dtype.name}: {text!r}."
            raise errors.InvalidArgumentError(None, None, said) from error

    def tensor(self, values: list[Any], shape: tuple[int, ...]) -> HostTensor:
        made = np.empty(len(values), self._dtype.dtype)
        made[:] = values
        return to_host_tensor(made.reshape(shape))
