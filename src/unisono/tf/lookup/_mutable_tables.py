"""`MutableHashTable` and `DenseHashTable`: mutable lookup tables, which are stored on the host."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono.tf import errors
from unisono.tf._dtypes import DType, as_dtype
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.lookup._initializers import Array, to_host_array
from unisono.tf.lookup._static_tables import convert_keys

HOST_ONLY = """A {table} is stored on the host: it cannot look up values of a compiled function. Use it outside
tf.function, or in the map function of a dataset."""


class MutableHashTable:
    """A lookup table whose keys can be inserted and removed.

    >>> table = MutableHashTable("string", "int64", default_value=-1)
    >>> table.insert(["a"], [1])
    >>> table.lookup(["a", "b"])
    Tensor([ 1, -1])

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of missing keys. Its shape is the shape of each value.
        name: the name of the table.
        checkpoint: accepted without effect: checkpoints do not contain the table.
        experimental_is_anonymous: accepted without effect.
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
        """The dtype of the keys."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return self._value_dtype

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._name

    def size(self, name: str | None = None) -> HostTensor:
        """Returns the number of keys."""
        return to_host_tensor(np.int64(len(self._values)))

    def insert(self, keys: Any, values: Any, name: str | None = None) -> None:
        """Inserts values; replaces those of existing keys."""
        key_array = self._to_key_array(keys)
        expected = (*key_array.shape, *self._default.shape)
        new = to_host_array(values, self._value_dtype)
        if new.shape != expected:
            message = f"{self._name}.insert: the values have shape {new.shape}. Expected {expected}."
            raise errors.InvalidArgumentError(None, None, message)
        for key, value in zip(key_array.ravel().tolist(), new.reshape(-1, *self._default.shape), strict=True):
            self._values[key] = value

    def lookup(self, keys: Any, dynamic_default_values: Any = None, name: str | None = None) -> HostTensor:
        """Returns the value of each key; of missing ones the default."""
        key_array = self._to_key_array(keys)
        default = self._default if dynamic_default_values is None else to_host_array(dynamic_default_values)
        defaults = np.broadcast_to(default, (*key_array.shape, *self._default.shape)).reshape(-1, *self._default.shape)
        found = np.empty(defaults.shape, self._value_dtype.dtype)
        for row, key in enumerate(key_array.ravel().tolist()):
            found[row] = self._values.get(key, defaults[row])
        return to_host_tensor(found.reshape(*key_array.shape, *self._default.shape))

    def __getitem__(self, keys: Any) -> HostTensor:
        return self.lookup(keys)

    def remove(self, keys: Any, name: str | None = None) -> None:
        """Removes keys; missing ones are ignored."""
        for key in self._to_key_array(keys).ravel().tolist():
            self._values.pop(key, None)

    def export(self, name: str | None = None) -> tuple[HostTensor, HostTensor]:
        """Returns all keys and all values."""
        keys = np.empty(len(self._values), self._key_dtype.dtype)
        values = np.empty((len(self._values), *self._default.shape), self._value_dtype.dtype)
        for row, (key, value) in enumerate(self._values.items()):
            keys[row], values[row] = key, value
        return to_host_tensor(keys), to_host_tensor(values)

    def _to_key_array(self, keys: Any) -> Array:
        if isinstance(keys, jax.core.Tracer):
            raise TypeError(HOST_ONLY.format(table=type(self).__name__))
        return convert_keys(keys, self._key_dtype, self._name)


class DenseHashTable(MutableHashTable):
    """A :class:`MutableHashTable` with two reserved keys.

    Args:
        key_dtype: the dtype of the keys.
        value_dtype: the dtype of the values.
        default_value: the value of missing keys.
        empty_key: a reserved key.
        deleted_key: another reserved key.
        initial_num_buckets: accepted without effect.
        name: the name of the table.
        checkpoint: accepted without effect: checkpoints do not contain the table.
        experimental_is_anonymous: accepted without effect.
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
        self._reserved = {to_host_array(key, key_dtype).item() for key in (empty_key, deleted_key)}

    def erase(self, keys: Any, name: str | None = None) -> None:
        """The same as `remove`."""
        self.remove(keys)

    def _to_key_array(self, keys: Any) -> Array:
        key_array = super()._to_key_array(keys)
        reserved = self._reserved.intersection(key_array.ravel().tolist())
        if reserved:
            message = f"{self._name}: {sorted(reserved)} is the empty_key or the deleted_key. Expected other keys."
            raise errors.InvalidArgumentError(None, None, message)
        return key_array
