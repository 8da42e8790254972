"""One requested feature, and how its values become an array. The general and the fast parser both use it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._feature_spans import BYTES, KIND_NAMES, FeatureSpans
from unisono._src.data.files._features import FixedLenFeature, VarLenFeature
from unisono._src.data.files._values import bytes_scalar
from unisono._src.data.files._wire import ExampleError, decode_varints

_FLOAT = np.dtype("<f4")


class FeatureRequest:
    """A name, and the FixedLenFeature or VarLenFeature requested under it."""

    __slots__ = ("_default", "_flat", "feature", "fixed", "kind", "name", "num_values", "shape")

    def __init__(self, name: str, feature: FixedLenFeature | VarLenFeature) -> None:
        self.name = name
        self.feature = feature
        self.kind = feature.kind
        self.fixed = isinstance(feature, FixedLenFeature)
        self.shape: tuple[int, ...] = (-1,)
        self.num_values = -1  # any number
        self._default: NDArray[Any] | None = None
        if isinstance(feature, FixedLenFeature):
            self.shape, self.num_values = feature.shape, feature.num_values
            if feature.default_value is not None:
                self._default = feature.broadcast(feature.default_value)
        else:
            self._default = np.empty(0, feature.dtype)
        self._flat = len(self.shape) == 1

    def value(self, data: bytes, spans: FeatureSpans | None) -> NDArray[Any]:
        """The array of this feature of one record."""
        if spans is None or not spans.kind:
            return self.default()
        if spans.kind != self.kind:
            raise ExampleError(
                f"feature {self.name!r} holds {KIND_NAMES[spans.kind]}, but {KIND_NAMES[self.kind]} was requested. "
                f"Write dtype={'string' if spans.kind == BYTES else KIND_NAMES[spans.kind]!r}, "
                f"and cast afterwards: parsed[{self.name!r}].astype(...)"
            )
        try:
            values = spans.decode(data)
        except ExampleError as error:
            raise ExampleError(f"feature {self.name!r}: {error}") from None
        return self.from_byte_strings(values) if isinstance(values, list) else self._reshape(values)

    def default(self) -> NDArray[Any]:
        """What a record without this feature gets."""
        if self._default is None:
            raise ExampleError(
                f"feature {self.name!r} is missing. Expected {KIND_NAMES[self.kind]} of shape {self.shape} in every "
                f"record: check the name, or give a default, FixedLenFeature(..., default_value=...)"
            )
        return self._default

    def from_byte_strings(self, values: list[bytes]) -> NDArray[Any]:
        """An object array: NumPy's type for bytes would drop NULs at the end."""
        num_values = self.num_values
        if len(values) != num_values and num_values >= 0:
            raise self._wrong_number(len(values))
        if not self.shape:
            return bytes_scalar(values[0])
        array: NDArray[Any] = np.empty(len(values), object)
        array[:] = values
        return array if self._flat else array.reshape(self.shape)

    def from_floats(self, run: bytes) -> NDArray[Any]:
        """From packed float32, whose length the caller has checked."""
        return self._reshape(np.frombuffer(run, _FLOAT))

    def from_int64s(self, run: bytes) -> NDArray[Any]:
        """From packed varints, which may be damaged."""
        if self.num_values == 1 and len(run) == 1 and run[0] < 128:  # a label
            label: NDArray[Any] = np.array(run[0], np.int64)
            return label.reshape(self.shape) if self.shape else label
        return self._reshape(decode_varints(run))

    def _reshape(self, values: NDArray[Any]) -> NDArray[Any]:
        if self._flat and (values.size == self.num_values or self.num_values < 0):
            return values
        if values.size != self.num_values:
            raise self._wrong_number(values.size)
        return values.reshape(self.shape)

    def _wrong_number(self, found: int) -> ExampleError:
        return ExampleError(
            f"feature {self.name!r} holds {found} value{'s' * (found != 1)}, but {self.num_values} were requested "
            f"(shape {self.shape}). Write the shape that was written, or VarLenFeature if it differs between records"
        )
