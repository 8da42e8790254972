"""Variables of which a part is assigned: `v[1:3].assign(x)`, `v.scatter_nd_update(indices, x)`, `v.scatter_add(rows)`.

On replicas the part is agreed upon as the whole is with `v.assign`: by the variable's aggregation.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Final

import jax.numpy as jnp
import keras

from unisono._src import jax_hooks, keras_hooks
from unisono.tf._tensors import as_array

NO_VARIABLE = """{name}() is for variables and parts of variables, such as v[0].{name}(1.0). This tensor is neither:
make it a tf.Variable, or use tf.tensor_scatter_nd_update."""

# TensorFlow's names, and what JAX calls it.
_WAYS_OF_SLICES: Final = {"assign": "set", "assign_add": "add", "assign_sub": "subtract"}
_WAYS_OF_ROWS: Final = {
    "update": "set",
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "max": "max",
    "min": "min",
}
_WAYS_OF_PLACES: Final = ("update", "add", "sub", "max", "min")

# For each part of a variable that is still there, by identity: that it is, of which variable, and where.
_parts: dict[int, tuple[weakref.ref[Any], Any, Any]] = {}


def give_parts() -> None:
    """Gives this to Keras's variables, and to the arrays that are parts of them."""
    variable = keras.Variable
    plain = variable.__getitem__

    @functools.wraps(plain)
    def part(self: Any, key: Any) -> Any:
        key = tuple(map(_index, key)) if isinstance(key, tuple) else _index(key)
        found = plain(self, key)
        number = id(found)
        _parts[number] = (weakref.ref(found, lambda _: _parts.pop(number, None)), self, key)
        return found

    variable.__getitem__ = part
    jax_hooks.add_array_properties({name: property(functools.partial(_assigner, name)) for name in _WAYS_OF_SLICES})
    for name, way in _WAYS_OF_ROWS.items():
        setattr(variable, f"scatter_{name}", _scatter(way))
    for name in _WAYS_OF_PLACES:
        setattr(variable, f"scatter_nd_{name}", _scatter_places(_WAYS_OF_ROWS[name]))
    variable.batch_scatter_update = _batch_scatter_update
    variable.sparse_read = lambda self, indices, name=None: as_array(self)[as_array(indices)]
    variable.gather_nd = lambda self, indices, name=None: as_array(self)[_places(indices)]


def _index(key: Any) -> Any:
    return key.value if isinstance(key, keras.Variable) else key  # JAX asks what an index is before it asks its value


def _assigner(name: str, array: Any) -> Callable[..., Any]:
    """`v[key].assign` and its kin. Only parts of variables have it: `hasattr` tells them from other arrays."""
    if id(array) not in _parts:
        raise AttributeError(NO_VARIABLE.format(name=name))
    _, variable, key = _parts[id(array)]
    way = _WAYS_OF_SLICES[name]
    return lambda value, name=None, read_value=True: _changed(variable, key, way, value)


def _scatter(way: str) -> Callable[..., Any]:
    def scatter(self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Changes some rows, which a `tf.IndexedSlices` tells; returns the variable."""
        return _changed(self, sparse_delta.indices, way, sparse_delta.values)

    return scatter


def _scatter_places(way: str) -> Callable[..., Any]:
    def scatter(self: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Changes some places; the last dim of ``indices`` is one place. Returns the variable."""
        return _changed(self, _places(indices), way, updates)

    return scatter


def _batch_scatter_update(self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Sets rows in each of a batch; returns the variable."""
    indices = as_array(sparse_delta.indices)
    batch = jnp.indices(indices.shape, sparse=True)[:-1]
    return _changed(self, (*batch, indices), "set", sparse_delta.values)


def _places(indices: Any) -> tuple[Any, ...]:
    return tuple(jnp.moveaxis(as_array(indices), -1, 0))


def _changed(variable: Any, key: Any, way: str, value: Any) -> Any:
    """Changes what is at ``key``; returns the variable."""
    value = as_array(value, variable.dtype)
    if way in ("add", "subtract"):
        change = getattr(jnp.zeros(variable.shape, value.dtype).at[key], way)(value)
        variable.assign_add(change)
        return variable
    before = keras_hooks.raw_value(variable)
    after = getattr(before.at[key], way)(value)
    scope = keras_hooks.current_state_scope()
    if scope is None:
        variable.assign(after)
    else:
        # The rest stays as it is: replicas whose values are summed would sum it, too.
        scope.write(variable, before.at[key].set(scope.aggregate(variable, after)[key]))
    return variable
