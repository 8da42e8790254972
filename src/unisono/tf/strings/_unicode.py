"""Unicode: code points with their offsets, and other encodings."""

from __future__ import annotations

from typing import Any

from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array
from unisono.tf._tensors import as_array
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
    """The code points of a string, and the byte at which each begins."""
    text = _scalar(input, "unicode_decode_with_offsets").decode(input_encoding)
    return as_array([ord(each) for each in text], "int32"), as_array(_offsets(text, input_encoding), "int64")


@op
def unicode_split_with_offsets(input: Any, input_encoding: str) -> Any:
    """The characters of a string, and the byte at which each begins."""
    text = _scalar(input, "unicode_split_with_offsets")
    characters = split_each(text, lambda each: [char.encode() for char in each.decode(input_encoding)], "split")
    return characters, as_array(_offsets(text.decode(input_encoding), input_encoding), "int64")


def _offsets(text: str, encoding: str) -> list[int]:
    offsets = [0]
    for each in text:
        offsets.append(offsets[-1] + len(each.encode(encoding)))
    return offsets[:-1]


def _scalar(input: Any, name: str) -> bytes:
    array = as_bytes_array(input)
    if array.ndim:
        raise ValueError(f"tf.strings.{name}: expected one string, got the shape {array.shape}. Call it for each.")
    text: bytes = array.item()
    return text
