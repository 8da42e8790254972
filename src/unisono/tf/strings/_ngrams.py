"""`tf.strings.ngrams`: neighbouring strings of a row, joined."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono.tf._composite import register_handlers
from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array, static_int
from unisono.tf._tensors import as_bytes, to_host_tensor
from unisono.tf.ragged._base import is_ragged
from unisono.tf.ragged._ragged_tensor import RaggedTensor
from unisono.tf.strings._string_arrays import build_string_array, scalar_value


@dataclass(frozen=True)
class _Windows:
    """Which neighbours are joined.

    Attributes:
        widths: how many, in the order of the results.
        separator: what is put between them.
        pads: what a row is padded with on the left and on the right; None for nothing.
        pad_width: how many pads; None for one fewer than the width, which is the most in any case.
        keeps_short: whether a row that is too short gives all its strings, joined.
    """

    widths: tuple[int, ...]
    separator: bytes
    pads: tuple[bytes, bytes] | None
    pad_width: int | None
    keeps_short: bool

    def join(self, row: list[bytes]) -> list[bytes]:
        """The n-grams of a row."""
        found = []
        for width in self.widths:
            most = width - 1 if self.pad_width is None else min(self.pad_width, width - 1)
            padded = self._pad(row, most)
            starts = range(len(padded) - width + 1)
            found += [self.separator.join(padded[start : start + width]) for start in starts]
        if found or not row or not self.keeps_short:
            return found
        return [self.separator.join(self._pad(row, self.pad_width or 0))]

    def _pad(self, row: list[bytes], number: int) -> list[bytes]:
        left, right = ([each] * number for each in self.pads) if self.pads is not None else ([], [])
        return [*left, *row, *right]


@op
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: Any = " ",
    pad_values: Any = None,
    padding_width: Any = None,
    preserve_short_sequences: bool = False,
) -> Any:
    """Joins each ``ngram_width`` neighbouring strings of a row. Dense rows give dense ones.

    >>> ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']

    Args:
        data: strings, the rows along the last dim.
        ngram_width: how many strings are joined; several numbers give the n-grams of one after those of the other.
        separator: what is put between them.
        pad_values: a string that rows are padded with at both ends, or one for each end; None for no padding.
        padding_width: how many of these; None means one fewer than ``ngram_width``, which is the most.
        preserve_short_sequences: whether a row that is too short gives one n-gram of all its strings.
    """
    array = as_bytes_array(data)
    if array.ndim == 0:
        raise ValueError("tf.strings.ngrams: expected rows of strings, got one string.")
    windows = _read_windows(ngram_width, separator, pad_values, padding_width, preserve_short_sequences)
    rows = [windows.join(list(array[index])) for index in np.ndindex(array.shape[:-1])]
    flat = [each for row in rows for each in row]
    shape = (*array.shape[:-1], len(rows[0]) if rows else 0)
    return to_host_tensor(build_string_array((len(flat),), lambda index: flat[index[0]]).reshape(shape))


def ngrams_of_ragged(data: Any, *args: Any, **kwargs: Any) -> Any:
    """:func:`ngrams` of a ragged tensor, whose result is one too."""
    if is_ragged(data.values) or len(data.values.shape) > 1:
        inner = data.values if is_ragged(data.values) else RaggedTensor.from_tensor(data.values)
        return data.with_rows_of(ngrams_of_ragged(inner, *args, **kwargs))
    windows = _read_windows(*args, **kwargs)
    splits = np.asarray(data.row_splits).tolist()
    flat = as_bytes_array(data.values).tolist() if splits[-1] else []
    rows = [windows.join(flat[start:stop]) for start, stop in itertools.pairwise(splits)]
    joined = [each for row in rows for each in row]
    values = build_string_array((len(joined),), lambda index: joined[index[0]])
    return RaggedTensor.from_row_lengths(to_host_tensor(values), np.array([len(row) for row in rows], np.int64))


def _read_windows(
    ngram_width: Any,
    separator: Any = " ",
    pad_values: Any = None,
    padding_width: Any = None,
    preserve_short_sequences: bool = False,
) -> _Windows:
    widths = tuple(
        static_int(each) for each in (ngram_width if isinstance(ngram_width, list | tuple) else [ngram_width])
    )
    if min(widths, default=0) < 1:
        raise ValueError(f"tf.strings.ngrams: ngram_width is {ngram_width}. Expected numbers above 0.")
    pads = tuple(pad_values) if isinstance(pad_values, list | tuple) else (pad_values, pad_values)
    if pad_values is not None and (len(pads) != 2 or not all(isinstance(each, str | bytes) for each in pads)):
        raise TypeError(f"tf.strings.ngrams: pad_values is {pad_values!r}. Expected a string, or one for each end.")
    if padding_width is not None and (pad_values is None or static_int(padding_width) < 1):
        raise ValueError("tf.strings.ngrams: padding_width is a number above 0, and needs pad_values.")
    return _Windows(
        widths,
        as_bytes(scalar_value(separator)),
        None if pad_values is None else (as_bytes(pads[0]), as_bytes(pads[1])),
        None if padding_width is None else static_int(padding_width),
        bool(preserve_short_sequences),
    )


register_handlers(RaggedTensor, {"strings.ngrams": ngrams_of_ragged})
