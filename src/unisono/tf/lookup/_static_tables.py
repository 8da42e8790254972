"""`StaticHashTable` and `StaticVocabularyTable`: tables that do not change."""

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

TRACED_TEXT = """A table of text was asked for a value of a compiled function. Text stays on the host: look it up in
the map of a dataset, or before the function is called."""

WRONG_DTYPE = "{table}: the keys are {given!r}, expected {expected!r}."


class StaticHashTable:
    """Values by keys; ``default_value`` for keys that are not there.

    Numbers can be looked up inside of compiled functions, text on the host only.

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
        """The dtype of keys."""
        return as_dtype(self._keys.dtype)

    @property
    def value_dtype(self) -> DType:
        """The dtype of values."""
        return as_dtype(self._values.dtype)

    @property
    def default_value(self) -> HostTensor:
        """The value of keys that are not there."""
        return to_host_tensor(self._default)

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def size(self, name: str | None = None) -> HostTensor:
        """How many keys there are."""
        return to_host_tensor(np.int64(len(self._rows)))

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """The value of each key."""
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
        """All keys, and all values."""
        rows = list(self._rows.values())
        return to_host_tensor(self._keys[rows]), to_host_tensor(self._values[rows])

    def rows(self, keys: Any) -> Array:
        """Where each key stands; -1 for those that are not there."""
        given = check_keys(keys, self.key_dtype, type(self).__name__)
        return np.array([self._rows.get(key, -1) for key in given.ravel().tolist()], np.int64).reshape(given.shape)

    def _lookup_traced(self, keys: Any) -> Any:
        if self._order is None or self.value_dtype == string:
            raise TypeError(TRACED_TEXT)
        keys_in_order = jnp.asarray(self._keys[self._order], to_jax_dtype(self.key_dtype))
        values = jnp.asarray(self._values[self._order], to_jax_dtype(self.value_dtype))
        default = jnp.asarray(self._default, to_jax_dtype(self.value_dtype))
        if not len(self._keys):
            return jnp.broadcast_to(default, tuple(keys.shape))
        places = jnp.minimum(jnp.searchsorted(keys_in_order, keys), len(self._keys) - 1)
        return jnp.where(keys_in_order[places] == keys, values[places], default)


class StaticVocabularyTable:
    """Numbers of words; words that are not there get one of the ``num_oov_buckets`` numbers behind, by their hash.

    Args:
        initializer: the words and their numbers, tf.int64; None if there are none.
        num_oov_buckets: how many numbers there are for other words.
        lookup_key_dtype: the dtype of words, where it is not the initializer's.
        name: accepted, without effect.
        experimental_is_anonymous: accepted, without effect.
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
        """The dtype of words."""
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        """tf.int64."""
        return int64

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def size(self, name: str | None = None) -> HostTensor:
        """How many numbers there are, those for other words included."""
        return to_host_tensor(np.int64(self._num_words + self._num_oov_buckets))

    def lookup(self, keys: Any, name: str | None = None) -> HostTensor:
        """The number of each word."""
        if isinstance(keys, jax.core.Tracer):
            raise TypeError(TRACED_TEXT)
        given = check_keys(keys, self._key_dtype, "StaticVocabularyTable")
        known = np.full(given.shape, -1, np.int64) if self._table is None else np.asarray(self._table.lookup(given))
        found = known.copy()
        for index in np.ndindex(given.shape):
            if known[index] < 0:
                found[index] = self._num_words + _hashed(given[index]) % self._num_oov_buckets
        return to_host_tensor(found)

    def __getitem__(self, keys: Any) -> HostTensor:
        return self.lookup(keys)

    @property
    def _num_words(self) -> int:
        return 0 if self._table is None else int(self._table.size())


def check_keys(keys: Any, dtype: DType, table: str) -> Array:
    """The keys as an array on the host; an error if they are of another dtype."""
    given = to_host_array(keys)
    if dtype != string and given.dtype.kind in "iu" and dtype.is_integer:
        given = given.astype(dtype.dtype)  # on devices 64-bit numbers are 32 bits wide
    if as_dtype(given.dtype) != dtype:
        raise TypeError(WRONG_DTYPE.format(table=table, given=as_dtype(given.dtype), expected=dtype))
    return given


def _rows_by_key(keys: Array, values: Array) -> dict[Any, int]:
    rows: dict[Any, int] = {}
    for row, key in enumerate(keys.tolist()):
        if key in rows and values[rows[key]] != values[row]:
            said = f"StaticHashTable: the key {key!r} has the values {values[rows[key]]!r} and {values[row]!r}."
            raise errors.FailedPreconditionError(None, None, said)
        rows.setdefault(key, row)
    return rows


def _hashed(key: Any) -> int:
    return fingerprint(key if isinstance(key, bytes) else str(int(key)).encode())
