"""What texts are made of: their length, letters, patterns, fingerprints."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from unisono.tf._fingerprint import fingerprint
from unisono.tf._op import op
from unisono.tf._operands import text, whole
from unisono.tf._tensors import as_array, as_bytes, on_host
from unisono.tf.strings._string_arrays import map_strings, scalar_value


@op
def length(input: Any, unit: str = "BYTE") -> Any:
    """How many bytes there are, or letters for "UTF8_CHAR"."""
    array = text(input)
    counts = [len(each if unit == "BYTE" else each.decode()) for each in array.reshape(-1)]
    return as_array(np.array(counts, np.int32).reshape(array.shape))


@op
def lower(input: Any, encoding: str = "") -> Any:
    """In small letters; other than ASCII's for encoding "utf-8"."""
    return map_strings(lambda each: each.decode().lower().encode() if encoding else each.lower(), text(input))


@op
def upper(input: Any, encoding: str = "") -> Any:
    """In capitals; other than ASCII's for encoding "utf-8"."""
    return map_strings(lambda each: each.decode().upper().encode() if encoding else each.upper(), text(input))


@op
def strip(input: Any) -> Any:
    """Without white space at both ends."""
    return map_strings(lambda each: each.strip(), text(input))


@op
def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True) -> Any:
    """What matches a pattern replaced, everywhere or once."""
    compiled, other = (
        re.compile(as_bytes(scalar_value(pattern))),
        as_bytes(scalar_value(rewrite)).replace(b"\\0", b"\\g<0>"),
    )
    return map_strings(lambda each: compiled.sub(other, each, count=0 if replace_global else 1), text(input))


@op
def regex_full_match(input: Any, pattern: Any) -> Any:
    """Whether the pattern matches all of the text."""
    compiled = re.compile(as_bytes(scalar_value(pattern)))
    array = text(input)
    matches = [compiled.fullmatch(each) is not None for each in array.reshape(-1)]
    return on_host(np.array(matches, bool).reshape(array.shape))


@op
def to_hash_bucket_fast(input: Any, num_buckets: Any) -> Any:
    """A number below ``num_buckets`` for each text, the same as TensorFlow's."""
    array, buckets = text(input), whole(num_buckets)
    numbers = [fingerprint(each) % buckets for each in array.reshape(-1)]
    return as_array(np.array(numbers, np.int64).reshape(array.shape))
