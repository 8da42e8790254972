"""One feature that is asked for, and how its values become an array. Slow and fast parsing both end here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unisono._src.data.files._byte_string import bytes_scalar
from unisono._src.data.files._features import FixedLenFeature, VarLenFeature
from unisono._src.data.files._stored import BYTES, FLOAT, KIND_NAMES, Stored
from unisono._src.data.files._wire import ExampleError, decode_varints

_FLOAT = np.dtype("<f4")


class FeatureRequest:
    """A name, and the FixedLenFeature or VarLenFeature that stands under it."""

    __slots__ = ("_absent", "_flat", "feature", "fixed", "kind", "name", "num_values", "shape")

    def __init__(self, name: str, feature: FixedLenFeature | VarLenFeature) -> None:
        self.name = name
        self.feature = feature
        self.kind = feature.kind
        self.fixed = isinstance(feature, FixedLenFeature)
        self.shape: tuple[int, ...] = (-1,)
        self.num_values = -1  # any number
        self._absent: NDArray[Any] | None = None
        if isinstance(feature, FixedLenFeature):
            self.shape, self.num_values = feature.shape, feature.num_values
            if feature.default_value is not None:
                self._absent = feature.filled(feature.default_value)
        else:
            self._absent = np.empty(0, feature.dtype)
        self._flat = len(self.shape) == 1

    def value(self, data: bytes, stored: Stored | None) -> NDArray[Any]:
        """The array of this feature of one record."""
        if stored is None or not stored.kind:
            return self.absent()
        if stored.kind != self.kind:
            raise ExampleError(
                f"feature {self.name!r} holds {KIND_NAMES[stored.kind]}, but {KIND_NAMES[self.kind]} was asked for. "
                f"Write dtype={'string' if stored.kind == BYTES else KIND_NAMES[stored.kind]!r}, "
                f"and cast afterwards: parsed[{self.name!r}].astype(...)"
            )
        if self.kind == BYTES:
            return self.from_byte_strings(stored.byte_strings(data))
        try:
            numbers = stored.floats(data) if self.kind == FLOAT else stored.int64s(data)
        except ExampleError as error:
            raise ExampleError(f"feature {self.name!r}: {error}") from None
        return self._shaped(numbers)

    def absent(self) -> NDArray[Any]:
        """What a record without this feature gets."""
        if self._absent is None:
            raise ExampleError(
                f"feature {self.name!r} is missing. Expected {KIND_NAMES[self.kind]} of shape {self.shape} in every "
                f"record: check the name, or say what stands for it, FixedLenFeature(..., default_value=...)"
            )
        return self._absent

    def from_byte_strings(self, values: list[bytes]) -> NDArray[Any]:
        """An object array. A bytes array of NumPy's would drop NULs at the end."""
        num_values = self.num_values
        if len(values) != num_values and num_values >= 0:
            raise self._wrong_number(len(values))
        if not self.shape:
            return bytes_scalar(values[0])
        array: NDArray[Any] = np.empty(len(values), object)
        array[:] = values
        return array if self._flat else array.reshape(self.shape)

    def from_floats(self, run: bytes) -> NDArray[Any]:
        """From packed float32; that these are whole numbers of them has been seen before."""
        return self._shaped(np.frombuffer(run, _FLOAT))

    def from_int64s(self, run: bytes) -> NDArray[Any]:
        """From packed varints, which may be damaged."""
        if self.num_values == 1 and len(run) == 1 and run[0] < 128:  # a label
            label: NDArray[Any] = np.array(run[0], np.int64)
            return label.reshape(self.shape) if self.shape else label
        return self._shaped(decode_varints(run))

    def _shaped(self, values: NDArray[Any]) -> NDArray[Any]:
        if self._flat and (values.size == self.num_values or self.num_values < 0):
            return values
        if values.size != self.num_values:
            raise self._wrong_number(values.size)
        return values.reshape(self.shape)

    def _wrong_number(self, found: int) -> ExampleError:
        return ExampleError(
            f"feature {self.name!r} holds {found} value{'s' * (found != 1)}, but {self.num_values} were asked for "
            f"(shape {self.shape}). Write the shape that is stored, or VarLenFeature if it differs between records"
        )
