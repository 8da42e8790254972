"""Conversion between strings and numbers: `to_number`, `as_string`, `format`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unisono._src.data.files import bytes_scalar
from unisono.tf._dtypes import as_dtype
from unisono.tf._op import op
from unisono.tf._operands import as_bytes_array, static_value
from unisono.tf._print import format_tensor
from unisono.tf._tensors import as_array, is_text, to_host_tensor
from unisono.tf.errors import InvalidArgumentError
from unisono.tf.strings._string_arrays import build_string_array


@op
def to_number(input: Any, out_type: Any = "float32") -> Any:
    """Parses strings as numbers.

    >>> to_number(["1.5", "2"]).tolist()
    [1.5, 2.0]
    """
    array, target = as_bytes_array(input), as_dtype(out_type)
    parse: Callable[[bytes], Any] = int if target.is_integer else float
    numbers = []
    for each in array.reshape(-1):
        try:
            numbers.append(parse(each))
        except ValueError:
            kind = "an integer" if target.is_integer else "a number"
            raise InvalidArgumentError(None, None, f"tf.strings.to_number: {each!r} is not {kind}.") from None
    return as_array(np.array(numbers, target.dtype).reshape(array.shape))


@op
def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = ""
) -> Any:
    """Converts numbers to strings.

    >>> as_string([1, 2]).numpy().tolist()
    [b'1', b'2']
    """
    if is_text(input):
        return to_host_tensor(as_bytes_array(input))
    array = static_value(as_array(input), "tf.strings.as_string runs on the host: its input")
    kind = "e" if scientific else "g" if shortest else "f"
    digits = "" if precision < 0 else f".{precision}"

    def to_text(value: Any) -> bytes:
        if array.dtype.kind == "b":
            text = "true" if value else "false"
        else:
            text = str(value) if array.dtype.kind in "iu" else f"{float(value):{digits}{kind}}"
        if width < 0:
            return text.encode()
        return (text.ljust(width) if fill == "-" else text.rjust(width, fill or " ")).encode()

    return to_host_tensor(build_string_array(array.shape, lambda index: to_text(array[index])))


@op
def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3) -> Any:
    """Replaces each ``placeholder`` in the template by a tensor, formatted as by `tf.print`."""
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    pieces = template.split(placeholder)
    if len(pieces) != len(values) + 1:
        raise ValueError(
            f"tf.strings.format: {template!r} has {len(pieces) - 1} placeholders for {len(values)} values."
        )
    shown = [format_tensor(_to_numpy(each), summarize) for each in values]
    text = pieces[0] + "".join(value + piece for value, piece in zip(shown, pieces[1:], strict=True))
    return to_host_tensor(bytes_scalar(text.encode()))


def _to_numpy(value: Any) -> Any:
    if is_text(value):
        return as_bytes_array(value)
    return static_value(as_array(value), "tf.strings.format runs on the host: a value")
