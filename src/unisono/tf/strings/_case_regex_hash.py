"""Length, case, whitespace, regular expressions and hashes of strings."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from unisono.tf._fingerprint import fingerprint
from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array, static_int
from unisono.tf._tensors import as_array, as_bytes, to_host_tensor
from unisono.tf.strings._string_arrays import map_strings, scalar_value


@op
def length(input: Any, unit: str = "BYTE") -> Any:
    """The number of bytes of each string; of characters for unit "UTF8_CHAR"."""
    array = as_bytes_array(input)
    counts = [len(each if unit == "BYTE" else each.decode()) for each in array.reshape(-1)]
    return as_array(np.array(counts, np.int32).reshape(array.shape))


@op
def lower(input: Any, encoding: str = "") -> Any:
    """Converts to lower case: ASCII letters only, all letters for encoding "utf-8"."""
    return map_strings(lambda each: each.decode().lower().encode() if encoding else each.lower(), as_bytes_array(input))


@op
def upper(input: Any, encoding: str = "") -> Any:
    """Converts to upper case: ASCII letters only, all letters for encoding "utf-8"."""
    return map_strings(lambda each: each.decode().upper().encode() if encoding else each.upper(), as_bytes_array(input))


@op
def strip(input: Any) -> Any:
    """Removes whitespace at both ends."""
    return map_strings(lambda each: each.strip(), as_bytes_array(input))


@op
def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Any:
    """Replaces matches of ``pattern``, all or the first. The syntax is that of Python's `re`."""
    compiled, replacement = (
        re.compile(as_bytes(scalar_value(pattern))),
        as_bytes(scalar_value(rewrite)).replace(b"\\0", b"\\g<0>"),
    )
    return map_strings(
        lambda each: compiled.sub(replacement, each, count=0 if replace_global else 1), as_bytes_array(input)
    )


@op
def regex_full_match(input: Any, pattern: Any) -> Any:
    """Whether ``pattern`` matches the whole string. The syntax is that of Python's `re`."""
    compiled = re.compile(as_bytes(scalar_value(pattern)))
    array = as_bytes_array(input)
    matches = [compiled.fullmatch(each) is not None for each in array.reshape(-1)]
    return to_host_tensor(np.array(matches, bool).reshape(array.shape))


@op
def to_hash_bucket_fast(input: Any, num_buckets: Any) -> Any:
    """Hashes each string to an integer below ``num_buckets``, the same as TensorFlow's."""
    array, buckets = as_bytes_array(input), static_int(num_buckets)
    numbers = [fingerprint(each) % buckets for each in array.reshape(-1)]
    return as_array(np.array(numbers, np.int64).reshape(array.shape))
