"""`MutableHashTable` and `DenseHashTable`: tables on the host that can be changed."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono.tf import errors
from unisono.tf._dtypes import DType, as_dtype
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.lookup._initializers import Array, to_host_array
from unisono.tf.lookup._static_tables import check_keys

ON_THE_HOST = """A {table} lives on the host: it cannot be used with values of a compiled function. Use it outside of
tf.function, or in the map of a dataset."""


class MutableHashTable:
    """Values by keys, which can be inserted and removed.

    >>> table = MutableHashTable("string", "int64", default_value=-1)
    >>> table.insert(["a"], [1])
    >>> table.lookup(["a", "b"])
    Tensor([ 1, -1])

    Args:
        key_dtype: the dtype of keys.
        value_dtype: the dtype of values.
        default_value: the value of keys that are not there. Its shape is the shape of each value.
        name: its name.
        checkpoint: accepted; a checkpoint does not hold the table.
        experimental_is_anonymous: accepted, without effect.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        name: str = "MutableHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        self._key_dtype, self._value_dtype, self._name = as_dtype(key_dtype), as_dtype(value_dtype), name
        self._default = to_host_array(default_value, value_dtype)
        self._values: dict[Any, Array] = {}

    @property
    def key_dtype(self) -> DType:
        """The dtype of keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def size(self, name: str | None = None) -> HostTensor:
        """How many keys there are."""
        return to_host_tensor(np.int64(len(self._values)))

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Puts values in, over those that were there."""
        given = self._given(keys)
        wanted = (*given.shape, *self._default.shape)
        new = to_host_array(values, self._value_dtype)
        if new.shape != wanted:
            said = f"{self._name}.insert: the values have shape {new.shape}. Expected {wanted}."
            raise errors.InvalidArgumentError(None, None, said)
        for key, value in zip(given.ravel().tolist(), new.reshape(-1, *self._default.shape), strict=True):
            self._values[key] = value

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> HostTensor:
        """The value of each key."""
        given = self._given(keys)
        default = self._default if dynamic_default_values is None else to_host_array(dynamic_default_values)
        defaults = np.broadcast_to(default, (*given.shape, *self._default.shape)).reshape(-1, *self._default.shape)
        found = np.empty(defaults.shape, self._value_dtype.dtype)
        for row, key in enumerate(given.ravel().tolist()):
            found[row] = self._values.get(key, defaults[row])
        return to_host_tensor(found.reshape(*given.shape, *self._default.shape))

    def __getitem__(self, keys: Any) -> HostTensor:
        return self.lookup(keys)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Takes keys out; those that are not there are passed over."""
        for key in self._given(keys).ravel().tolist():
            self._values.pop(key, None)

    def export(self, name: str | None = None) -> tuple[HostTensor, HostTensor]:
        """All keys, and all values."""
        keys = np.empty(len(self._values), self._key_dtype.dtype)
        values = np.empty((len(self._values), *self._default.shape), self._value_dtype.dtype)
        for row, (key, value) in enumerate(self._values.items()):
            keys[row], values[row] = key, value
        return to_host_tensor(keys), to_host_tensor(values)

    def _given(self, keys: Any) -> Array:
        if isinstance(keys, jax.core.Tracer):
            raise TypeError(ON_THE_HOST.format(table=type(self).__name__))
        return check_keys(keys, self._key_dtype, self._name)


class DenseHashTable(MutableHashTable):
    """A :class:`MutableHashTable` with two keys that cannot be used.

    Args:
        key_dtype: the dtype of keys.
        value_dtype: the dtype of values.
        default_value: the value of keys that are not there.
        empty_key: a key that cannot be used.
        deleted_key: another one.
        initial_num_buckets: accepted, without effect.
        name: its name.
        checkpoint: accepted; a checkpoint does not hold the table.
        experimental_is_anonymous: accepted, without effect.
    """

    def __init__(
        self,
        key_dtype: Any,
        value_dtype: Any,
        default_value: Any,
        empty_key: Any,
        deleted_key: Any,
        initial_num_buckets: int | None = None,
        name: str = "MutableDenseHashTable",
        checkpoint: bool = True,
        experimental_is_anonymous: bool = False,
    ) -> None:
        super().__init__(key_dtype, value_dtype, default_value, name, checkpoint)
        self._refused = {to_host_array(key, key_dtype).item() for key in (empty_key, deleted_key)}

    def erase(self, keys: Any, name: str | None = None) -> None:
        """The same as `remove`."""
        self.remove(keys)

    def _given(self, keys: Any) -> Array:
        given = super()._given(keys)
        refused = self._refused.intersection(given.ravel().tolist())
        if refused:
            said = f"{self._name}: {sorted(refused)} is the empty_key or the deleted_key, which cannot be used."
            raise errors.InvalidArgumentError(None, None, said)
        return given
