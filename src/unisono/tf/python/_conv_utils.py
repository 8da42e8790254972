"""`tensorflow.python.keras.utils.conv_utils`: checks of arguments and sizes of outputs of convolutions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import keras

NOT_A_TUPLE = "{name} is {value!r}. Expected a number or {n} numbers, each at least {least}."


def normalize_tuple(value: Any, n: int, name: str, allow_zero: bool = False) -> tuple[int, ...]:
    """A number as a tuple of ``n`` times that number; ``n`` numbers as a tuple.

    >>> normalize_tuple(3, 2, "kernel_size"), normalize_tuple([1, 2], 2, "strides")
    ((3, 3), (1, 2))
    """
    least = 0 if allow_zero else 1
    found = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,) * n
    try:
        numbers = tuple(int(each) for each in found)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) != n or min(numbers, default=0) < least:
        raise ValueError(NOT_A_TUPLE.format(name=name, value=value, n=n, least=least))
    return numbers


def normalize_padding(value: Any) -> Any:
    """The padding in lower case; "valid", "same" or "causal"."""
    if isinstance(value, list | tuple):
        return value
    padding = str(value).lower()
    if padding not in {"valid", "same", "causal"}:
        raise ValueError(f"padding is {value!r}. Expected 'valid', 'same' or 'causal'.")
    return padding


def normalize_data_format(value: str | None) -> str:
    """The data format; that of Keras's configuration for None."""
    found: str = (value or keras.config.image_data_format()).lower()
    if found not in {"channels_first", "channels_last"}:
        raise ValueError(f"data_format is {value!r}. Expected 'channels_first' or 'channels_last'.")
    return found


def convert_data_format(data_format: str, ndim: int) -> str:
    """The format as `tf.nn` writes it: "NHWC" for "channels_last" and four dims."""
    letters = {3: "W", 4: "HW", 5: "DHW"}
    if ndim not in letters:
        raise ValueError(f"ndim is {ndim}. Expected 3, 4 or 5.")
    return f"N{letters[ndim]}C" if normalize_data_format(data_format) == "channels_last" else f"NC{letters[ndim]}"


def conv_output_length(
    input_length: int | None, filter_size: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """The size of a convolution's output in one dim; None if that of the input is unknown."""
    if input_length is None:
        return None
    covered = filter_size + (filter_size - 1) * (dilation - 1)
    lost = {"same": 0, "causal": 0, "valid": covered - 1, "full": 1 - covered}[padding]
    return (input_length - lost + stride - 1) // stride


def deconv_output_length(
    input_length: int | None,
    filter_size: int,
    padding: str,
    output_padding: int | None = None,
    stride: int = 1,
    dilation: int = 1,
) -> int | None:
    """The size of a transposed convolution's output in one dim; None if that of the input is unknown."""
    if input_length is None:
        return None
    covered = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is None:
        extra = {"valid": max(covered - stride, 0), "same": 0, "full": 2 - stride - covered}[padding]
        return input_length * stride + extra
    pad = {"same": covered // 2, "valid": 0, "full": covered - 1}[padding]
    return (input_length - 1) * stride + covered - 2 * pad + output_padding
