"""Unicode: code points with their offsets, and other encodings."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array
from unisono.tf.strings._string_arrays import map_strings, split_each

_ERRORS = {"replace": "replace", "ignore": "ignore", "strict": "strict"}


@op
def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
) -> Any:
    """Converts strings from one encoding to another.

    >>> unicode_transcode("é", "UTF-8", "UTF-16-BE").numpy()
    b'\\x00\\xe9'
    """

    def convert(text: bytes) -> bytes:
        decoded = text.decode(input_encoding, _ERRORS[errors]).replace("\ufffd", chr(replacement_char))
        if replace_control_characters:
            decoded = "".join(chr(replacement_char) if ord(each) < 32 else each for each in decoded)
        return decoded.encode(output_encoding, _ERRORS[errors])

    return map_strings(convert, as_bytes_array(input))


@op
def unicode_decode_with_offsets(input: Any, input_encoding: str) -> Any:
    """The code points of strings, and the byte at which each begins."""
    code_points = split_each(input, lambda each: [ord(char) for char in each.decode(input_encoding)], np.int32)
    return code_points, _offsets(input, input_encoding)


@op
def unicode_split_with_offsets(input: Any, input_encoding: str) -> Any:
    """The characters of strings, and the byte at which each begins."""
    characters = split_each(input, lambda each: [char.encode() for char in each.decode(input_encoding)])
    return characters, _offsets(input, input_encoding)


def _offsets(input: Any, encoding: str) -> Any:
    def find_offsets(text: bytes) -> list[int]:
        lengths = [len(char.encode(encoding)) for char in text.decode(encoding)]
        return list(accumulate(lengths[:-1], initial=0)) if lengths else []

    return split_each(input, find_offsets, np.int64)
