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

_DIGITS: Final = {2: (6, 9), 4: (6, 9), 8: (15, 17)}  # by width: tried first, and what always tells numbers apart

STREAM = """tf.print: output_stream is {stream!r}. Expected sys.stdout, sys.stderr or the path of a file as
"file:///tmp/log.txt"."""


def print(
    *inputs: Any, output_stream: Any = None, summarize: int = 3, sep: str = " ", end: str = "\n", name: Any = None
) -> None:
    """Prints values with a space between, to stderr if no other stream is named.

    Of a tensor these are the first and the last numbers of each dim; ``summarize=-1``: all. Inside a compiled function
    it prints every time the function runs.

    Args:
        inputs: tensors, and anything else.
        output_stream: sys.stdout, sys.stderr, or "file://" and a path, to which is appended.
        summarize: how many numbers from each end of a dim.
        sep: what is between the values.
        end: what is after the last one.
        name: accepted, without effect.
    """
    if isinstance(output_stream, str) and not output_stream.startswith("file://"):
        raise ValueError(STREAM.format(stream=output_stream))
    values = [each.value if isinstance(each, keras.Variable) else each for each in inputs]
    leaves, tree = jax.tree.flatten(values, is_leaf=lambda leaf: leaf is None)
    traced = [place for place, leaf in enumerate(leaves) if isinstance(leaf, jax.core.Tracer)]

    def printed(*arrays: Any) -> None:
        known = list(leaves)
        for place, array in zip(traced, arrays, strict=True):
            known[place] = np.asarray(array).view(HostTensor)
        text = sep.join(_top(value, summarize) for value in jax.tree.unflatten(tree, known))
        _write(text + end, output_stream)

    if traced or not jax_hooks.is_evaluating():  # also text alone: it is printed when the program gets there
        jax.debug.callback(printed, *(leaves[place] for place in traced))
    else:
        printed()


def formatted(value: Any, summarize: int = 3) -> str:
    """A tensor as TensorFlow prints it.

    >>> formatted(np.arange(10))
    '[0 1 2 ... 7 8 9]'
    """
    return _array(np.asarray(value), summarize, 1)


def number(value: Any) -> str:
    """A number as TensorFlow prints it.

    >>> number(np.float32(1) / 3), number(np.float32(2)), number(np.True_)
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
        return f"({number(value.real)},{number(value.imag)})"
    wide = float(value)
    few, enough = _DIGITS.get(dtype.itemsize, (6, 9))
    short = f"{wide:.{few}g}"
    # Half-width numbers are printed as the single ones that they are, too.
    single = np.float64 if dtype.itemsize == 8 else np.float32
    return short if single(short) == single(wide) or wide != wide else f"{wide:.{enough}g}"


def _top(value: Any, summarize: int) -> str:
    return value if isinstance(value, str) else _nested(value, summarize)


def _nested(value: Any, summarize: int) -> str:
    if isinstance(value, jax.Array | HostTensor):
        return formatted(value, summarize)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_nested(each, summarize)}" for key, each in value.items()) + "}"
    if type(value) is list:
        return "[" + ", ".join(_nested(each, summarize) for each in value) + "]"
    if type(value) is tuple:
        inner = ", ".join(_nested(each, summarize) for each in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def _array(array: Any, summarize: int, indent: int) -> str:
    if array.ndim == 0:
        return number(array[()])
    length = array.shape[0]
    cut = summarize >= 0 and length > 2 * summarize
    rows: list[Any] = [*array[:summarize], *array[length - summarize :]] if cut else list(array)
    texts = [_array(np.asarray(row, array.dtype), summarize, indent + 1) for row in rows]
    if cut:
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
