"""`FixedLenFeature` and `VarLenFeature`: what a caller requests from a serialized Example."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._feature_spans import BYTES, FLOAT, INT64, KIND_NAMES
from unisono._src.data.files._wire import ExampleError

_OBJECT: Final = np.dtype(object)
_PYTHON: Final = {BYTES: bytes, FLOAT: Real, INT64: Integral}
_KINDS: Final = {np.dtype(np.float32): FLOAT, np.dtype(np.int64): INT64, _OBJECT: BYTES}


@dataclass(frozen=True)
class FixedLenFeature:
    """A feature with the same number of values in every record.

    >>> FixedLenFeature((28, 28), "float32").num_values
    784
    >>> FixedLenFeature([], str, default_value="unknown").default_value
    b'unknown'
    """

    shape: Any
    """Whole numbers; `()` or `[]` for a single value."""
    dtype: Any
    """float32, int64, or a string: "string", bytes, str and object all mean byte strings."""
    default_value: Any = None
    """What a record without this feature gets, in the feature's shape or as one value for all of it."""
    kind: int = field(init=False, repr=False, compare=False)
    num_values: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        put = object.__setattr__  # the dataclass is frozen
        put(self, "dtype", _check_dtype(self.dtype, "FixedLenFeature"))
        put(self, "kind", _KINDS[self.dtype])
        put(self, "shape", _check_shape(self.shape))
        put(self, "num_values", math.prod(self.shape))
        if self.default_value is not None:
            put(self, "default_value", _as_hashable(self.broadcast(self.default_value)))

    def broadcast(self, value: Any) -> NDArray[Any]:
        """`value` in the feature's shape and dtype, read-only."""
        values = [
            item.encode() if isinstance(item, str) else item for item in np.array(value, dtype=object).ravel().tolist()
        ]
        if len(values) not in (1, self.num_values) or not all(isinstance(item, _PYTHON[self.kind]) for item in values):
            raise ValueError(
                f"FixedLenFeature: default_value is {value!r}. Expected {KIND_NAMES[self.kind]} of shape {self.shape}, "
                f"which are {self.num_values}, or one for all of them."
            )
        array: NDArray[Any] = np.empty(self.num_values, self.dtype)
        array[:] = values if len(values) == self.num_values else values * self.num_values
        array.flags.writeable = False
        return array.reshape(self.shape)


@dataclass(frozen=True)
class VarLenFeature:
    """A feature with any number of values: a dense array of one dimension, as long as the record's own list.

    There are no sparse tensors here. Parse single examples, then make the lengths equal with `padded_batch`.

    >>> VarLenFeature("int64")
    VarLenFeature(dtype=dtype('int64'))
    """

    dtype: Any
    """float32, int64, or a string: "string", bytes, str and object all mean byte strings."""
    kind: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", _check_dtype(self.dtype, "VarLenFeature"))
        object.__setattr__(self, "kind", _KINDS[self.dtype])


def _check_dtype(given: Any, call: str) -> np.dtype[Any]:
    if given is None:  # which NumPy takes for float64
        raise TypeError(f"{call}: dtype is None. Expected 'float32', 'int64' or 'string'.")
    try:
        dtype = _OBJECT if isinstance(given, str) and given == "string" else np.dtype(given)
    except TypeError:
        raise TypeError(f"{call}: dtype is {given!r}. Expected 'float32', 'int64' or 'string'.") from None
    if dtype.kind in "SUO":
        return _OBJECT
    if dtype in _KINDS:
        return dtype
    raise ExampleError(
        f"{call}: dtype is {dtype}, but an Example holds only float32, int64 and byte strings. "
        f"Write {_suggest_cast(dtype)}."
    )


def _suggest_cast(dtype: np.dtype[Any]) -> str:
    stored = "int64" if dtype.kind in "iub" else "float32"
    cast = f"{stored!r} here and parsed[name].astype({dtype.name!r}) afterwards"
    return f"{cast}; or, if array.tobytes() was stored, 'string' here and decode_raw(parsed[name], {dtype.name!r})"


def _check_shape(given: Any) -> tuple[int, ...]:
    if type(given) is tuple and all(type(size) is int and size >= 0 for size in given):
        return given
    try:
        shape = tuple(size.__index__() for size in given)
    except (TypeError, AttributeError):
        shape = (-1,)
    if any(size < 0 for size in shape):
        raise ValueError(
            f"FixedLenFeature: shape is {given!r}. Expected whole numbers such as (28, 28), (784,) or () for one "
            f"value. Where the number of values differs from record to record, write VarLenFeature(dtype)."
        )
    return shape


def _as_hashable(array: NDArray[Any]) -> Any:
    """The values as something that can be compared and hashed."""
    return _to_tuples(array.tolist())


def _to_tuples(nested: Any) -> Any:
    return tuple(_to_tuples(item) for item in nested) if isinstance(nested, list) else nested
