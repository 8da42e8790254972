"""`tf.print`: tensors as TensorFlow prints them, also while a compiled function runs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, Final

import jax
import keras
import numpy as np

from unisono._src import jax_hooks
from unisono.tf._tensors import HostTensor, as_bytes

_DIGITS: Final = {
    2: (6, 9),
    4: (6, 9),
    8: (15, 17),
}  # by width: digits tried first; digits that always distinguish two numbers

UNKNOWN_STREAM = """tf.print: output_stream is {stream!r}. Expected sys.stdout, sys.stderr or the path of a file as
"file:///tmp/log.txt"."""


def print(
    *inputs: Any, output_stream: Any = None, summarize: int = 3, sep: str = " ", end: str = "\n", name: Any = None
) -> None:
    """Prints values with a space between, to stderr if no other stream is named.

    Of each dim of a tensor the first and last numbers are printed; with ``summarize=-1`` all. Inside a compiled
    function it prints every time the function runs.

    Args:
        inputs: tensors, and anything else.
        output_stream: sys.stdout, sys.stderr, or "file://" and a path to append to.
        summarize: how many numbers from each end of a dim.
        sep: the separator of the values.
        end: the text after the last value.
        name: accepted, without effect.
    """
    if isinstance(output_stream, str) and not output_stream.startswith("file://"):
        raise ValueError(UNKNOWN_STREAM.format(stream=output_stream))
    values = [each.value if isinstance(each, keras.Variable) else each for each in inputs]
    leaves, tree = jax.tree.flatten(values, is_leaf=lambda leaf: leaf is None)
    traced = [index for index, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer)]

    def print_values(*arrays: Any) -> None:
        known = list(leaves)
        for index, array in zip(traced, arrays, strict=True):
            known[index] = np.asarray(array).view(HostTensor)
        text = sep.join(_format_top_level(value, summarize) for value in jax.tree.unflatten(tree, known))
        _write(text + end, output_stream)

    if traced or not jax_hooks.is_evaluating():  # also text alone: it is printed when the program reaches the call
        jax.debug.callback(print_values, *(leaves[index] for index in traced))
    else:
        print_values()


def format_tensor(value: Any, summarize: int = 3) -> str:
    """A tensor as TensorFlow prints it.

    >>> format_tensor(np.arange(10))
    '[0 1 2 ... 7 8 9]'
    """
    return _format_array(np.asarray(value), summarize, 1)


def format_number(value: Any) -> str:
    """A number as TensorFlow prints it.

    >>> format_number(np.float32(1) / 3), format_number(np.float32(2)), format_number(np.True_)
    ('0.333333343', '2', '1')
    """
    if isinstance(value, str | bytes):
        return f'"{as_bytes(value).decode(errors="replace")}"'
    dtype = np.asarray(value).dtype
    if dtype.kind == "b":
        return str(int(value))
    if dtype.kind in "iu":
        return str(value)
    if dtype.kind == "c":
        return f"({format_number(value.real)},{format_number(value.imag)})"
    wide = float(value)
    fewest, most = _DIGITS.get(dtype.itemsize, (6, 9))
    short = f"{wide:.{fewest}g}"
    # Half-precision numbers are printed like the single-precision numbers of the same value.
    single = np.float64 if dtype.itemsize == 8 else np.float32
    return short if single(short) == single(wide) or wide != wide else f"{wide:.{most}g}"


def _format_top_level(value: Any, summarize: int) -> str:
    return value if isinstance(value, str) else _format_nested(value, summarize)


def _format_nested(value: Any, summarize: int) -> str:
    if isinstance(value, jax.Array | HostTensor):
        return format_tensor(value, summarize)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_format_nested(each, summarize)}" for key, each in value.items()) + "}"
    if type(value) is list:
        return "[" + ", ".join(_format_nested(each, summarize) for each in value) + "]"
    if type(value) is tuple:
        inner = ", ".join(_format_nested(each, summarize) for each in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def _format_array(array: Any, summarize: int, indent: int) -> str:
    if array.ndim == 0:
        return format_number(array[()])
    length = array.shape[0]
    shortened = summarize >= 0 and length > 2 * summarize
    rows: list[Any] = [*array[:summarize], *array[length - summarize :]] if shortened else list(array)
    texts = [_format_array(np.asarray(row, array.dtype), summarize, indent + 1) for row in rows]
    if shortened:
        texts.insert(summarize, "...")
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * indent
    return f"[{between.join(texts)}]"


def _write(text: str, stream: Any) -> None:
    if isinstance(stream, str):
        with open(stream.removeprefix("file://"), "a", encoding="utf-8") as file:
            file.write(text)
        return
    stream = sys.stderr if stream is None else stream
    stream.write(text)
    stream.flush()
