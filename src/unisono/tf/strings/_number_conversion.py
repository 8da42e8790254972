"""Numbers in texts, and texts of numbers."""

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
    """The numbers that are written in the text.

    >>> to_number(["1.5", "2"]).tolist()
    [1.5, 2.0]
    """
    array, wanted = as_bytes_array(input), as_dtype(out_type)
    read: Callable[[bytes], Any] = int if wanted.is_integer else float
    numbers = []
    for each in array.reshape(-1):
        try:
            numbers.append(read(each))
        except ValueError:
            kind = "whole number" if wanted.is_integer else "number"
            raise InvalidArgumentError(None, None, f"tf.strings.to_number: {each!r} is no {kind}.") from None
    return as_array(np.array(numbers, wanted.dtype).reshape(array.shape))


@op
def as_string(
    input: Any, precision: int = -1, scientific: bool = False, shortest: bool = False, width: int = -1, fill: str = ""
) -> Any:
    """Numbers as text.

    >>> as_string([1, 2]).numpy().tolist()
    [b'1', b'2']
    """
    if is_text(input):
        return to_host_tensor(as_bytes_array(input))
    array = static_value(as_array(input), "tf.strings.as_string: numbers become text on the host; the input")
    kind = "e" if scientific else "g" if shortest else "f"
    digits = "" if precision < 0 else f".{precision}"

    def written(value: Any) -> bytes:
        if array.dtype.kind == "b":
            plain = "true" if value else "false"
        else:
            plain = str(value) if array.dtype.kind in "iu" else f"{float(value):{digits}{kind}}"
        if width < 0:
            return plain.encode()
        return (plain.ljust(width) if fill == "-" else plain.rjust(width, fill or " ")).encode()

    return to_host_tensor(build_string_array(array.shape, lambda index: written(array[index])))


@op
def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3) -> Any:
    """The template with tensors in place of ``placeholder``, written as `tf.print` writes them."""
    values = inputs if isinstance(inputs, list | tuple) else [inputs]
    pieces = template.split(placeholder)
    if len(pieces) != len(values) + 1:
        raise ValueError(f"tf.strings.format: {len(pieces) - 1} places for {len(values)} values in {template!r}.")
    shown = [
        format_tensor(as_bytes_array(each) if is_text(each) else static_value(as_array(each), "It"), summarize)
        for each in values
    ]
    joined = pieces[0] + "".join(value + piece for value, piece in zip(shown, pieces[1:], strict=True))
    return to_host_tensor(bytes_scalar(joined.encode()))
