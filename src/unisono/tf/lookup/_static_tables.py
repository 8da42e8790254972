"""`StaticHashTable` and `StaticVocabularyTable`: immutable lookup tables."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono.tf import errors
from unisono.tf._dtypes import DType, as_dtype, int64, string, to_jax_dtype
from unisono.tf._fingerprint import fingerprint
from unisono.tf._tensors import HostTensor, to_host_tensor
from unisono.tf.lookup._initializers import Array, to_host_array

TRACED_TEXT = """A lookup table of strings got a value of a compiled function. Strings are on the host only: look them
up in the map function of a dataset, or before the function is called."""

WRONG_DTYPE = "{table}: the keys are {given!r}, expected {expected!r}."


class StaticHashTable:
    """An immutable lookup table; missing keys have the value ``default_value``.

    Tables of numbers can be used inside compiled functions, tables of strings only on the host.

    >>> from unisono.tf.lookup import KeyValueTensorInitializer
    >>> table = StaticHashTable(KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1)
    >>> table.lookup(["b", "z"])
    Tensor([ 2, -1], dtype=int32)
    """

    def __init__(
        self, initializer: Any, default_value: Any, name: str | None = None, experimental_is_anonymous: bool = False
    ) -> None:
        self._keys, self._values = initializer.keys.ravel(), initializer.values.ravel()
        self._name = name or "hash_table"
        self._default = to_host_array(default_value, self.value_dtype)
        self._rows = _rows_by_key(self._keys, self._values)
        self._order = None if self.key_dtype == string else np.argsort(self._keys, kind="stable")

    @property
    def key_dtype(self) -> DType:
        """The dtype of the keys."""
        return as_dtype(self._keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self._values.dtype)

    @property
    def default_value(self) -> HostTensor:
        """The value of missing keys."""
        return to_host_tensor(self._default)

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._name

    def size(self, name: str | None = None) -> HostTensor:
        """Returns the number of keys."""
        return to_host_tensor(np.int64(len(self._rows)))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Returns the value of each key; of missing ones the default."""
        if isinstance(keys, jax.core.Tracer):
            return self._lookup_traced(keys)
        rows = self.rows(keys)
        found = np.empty(rows.shape, self._values.dtype)
        known = rows >= 0
        found[known], found[~known] = self._values[rows[known]], self._default
        return to_host_tensor(found)

    def __getitem__(self, keys: Any) -> Any:
        return self.lookup(keys)

    def export(self, name: str | None = None) -> tuple[HostTensor, HostTensor]:
        """Returns all keys and all values."""
        rows = list(self._rows.values())
        return to_host_tensor(self._keys[rows]), to_host_tensor(self._values[rows])

    def rows(self, keys: Any) -> Array:
        """Returns the row of each key; -1 for missing ones."""
        key_array = convert_keys(keys, self.key_dtype, type(self).__name__)
        rows = [self._rows.get(key, -1) for key in key_array.ravel().tolist()]
        return np.array(rows, np.int64).reshape(key_array.shape)

    def _lookup_traced(self, keys: Any) -> Any:
        if self._order is None or self.value_dtype == string:
            raise TypeError(TRACED_TEXT)
        sorted_keys = jnp.asarray(self._keys[self._order], to_jax_dtype(self.key_dtype))
        values = jnp.asarray(self._values[self._order], to_jax_dtype(self.value_dtype))
        default = jnp.asarray(self._default, to_jax_dtype(self.value_dtype))
        if not len(self._keys):
            return jnp.broadcast_to(default, tuple(keys.shape))
        indices = jnp.minimum(jnp.searchsorted(sorted_keys, keys), len(self._keys) - 1)
        return jnp.where(sorted_keys[indices] == keys, values[indices], default)


class StaticVocabularyTable:
    """Maps words to ids; words outside the vocabulary to one of ``num_oov_buckets`` further ids, by their hash.

    Args:
        initializer: the words and their ids, of dtype tf.int64; None for an empty vocabulary.
        num_oov_buckets: the number of ids for words outside the vocabulary.
        lookup_key_dtype: the dtype of words. If None, the initializer's.
        name: the name of the table.
        experimental_is_anonymous: accepted without effect.
    """

    def __init__(
        self,
        initializer: Any,
        num_oov_buckets: int,
        lookup_key_dtype: Any = None,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        if num_oov_buckets < 1:
            raise ValueError(f"StaticVocabularyTable: num_oov_buckets is {num_oov_buckets}. Expected 1 or more.")
        if initializer is not None and initializer.value_dtype != int64:
            raise TypeError(f"StaticVocabularyTable: the values are {initializer.value_dtype!r}, expected tf.int64.")
        self._table = None if initializer is None else StaticHashTable(initializer, -1, name)
        self._num_oov_buckets = num_oov_buckets
        known = string if initializer is None else initializer.key_dtype
        self._key_dtype = known if lookup_key_dtype is None else as_dtype(lookup_key_dtype)
        self._name = name or "vocabulary_table"

    @property
    def key_dtype(self) -> DType:
        """The dtype of the words."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """tf.int64."""
        return int64

    @property
    def name(self) -> str:
        """The name of the table."""
        return self._name

    def size(self, name: str | None = None) -> HostTensor:
        """Returns the number of ids, including the ``num_oov_buckets``."""
        return to_host_tensor(np.int64(self._num_words + self._num_oov_buckets))

    def lookup(self, keys: Any, name: str | None = None) -> HostTensor:
        """Returns the id of each word."""
        if isinstance(keys, jax.core.Tracer):
            raise TypeError(TRACED_TEXT)
        key_array = convert_keys(keys, self._key_dtype, "StaticVocabularyTable")
        ids = np.full(key_array.shape, -1, np.int64) if self._table is None else np.array(self._table.lookup(key_array))
        for index in np.ndindex(key_array.shape):
            if ids[index] < 0:
                ids[index] = self._num_words + _hash_key(key_array[index]) % self._num_oov_buckets
        return to_host_tensor(ids)

    def __getitem__(self, keys: Any) -> HostTensor:
        return self.lookup(keys)

    @property
    def _num_words(self) -> int:
        return 0 if self._table is None else int(self._table.size())


def convert_keys(keys: Any, dtype: DType, table: str) -> Array:
    """Converts keys to a NumPy array; raises TypeError unless they have the dtype of the table."""
    key_array = to_host_array(keys)
    if dtype != string and key_array.dtype.kind in "iu" and dtype.is_integer:
        key_array = key_array.astype(dtype.dtype)  # on devices int64 is stored as int32
    if as_dtype(key_array.dtype) != dtype:
        raise TypeError(WRONG_DTYPE.format(table=table, given=as_dtype(key_array.dtype), expected=dtype))
    return key_array


def _rows_by_key(keys: Array, values: Array) -> dict[Any, int]:
    rows: dict[Any, int] = {}
    for row, key in enumerate(keys.tolist()):
        if key in rows and values[rows[key]] != values[row]:
            message = f"StaticHashTable: the key {key!r} has the values {values[rows[key]]!r} and {values[row]!r}."
            raise errors.FailedPreconditionError(None, None, message)
        rows.setdefault(key, row)
    return rows


def _hash_key(key: Any) -> int:
    return fingerprint(key if isinstance(key, bytes) else str(int(key)).encode())
