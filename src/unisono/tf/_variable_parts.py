"""Variables of which a part is assigned: `v[1:3].assign(x)`, `v.scatter_nd_update(indices, x)`, `v.scatter_add(rows)`.

On replicas the part is aggregated as the whole variable is with `v.assign`.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
import keras

from unisono._src import keras_hooks
from unisono.tf._indexing import gather, gather_nd
from unisono.tf._operands import hide_negative
from unisono.tf._tensors import as_array

NO_VARIABLE = """{name}() is for variables and parts of variables, such as v[0].{name}(1.0). This tensor is neither:
make it a tf.Variable, or use tf.tensor_scatter_nd_update."""

# TensorFlow's names, and JAX's for the same update.
_SLICE_UPDATES: Final = {"assign": "set", "assign_add": "add", "assign_sub": "subtract"}
_ROW_UPDATES: Final = {
    "update": "set",
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "max": "max",
    "min": "min",
}
_ND_UPDATES: Final = ("update", "add", "sub", "max", "min")

# By identity, for each part of a variable that is alive: a reference to it, its variable and its key.
_parts: dict[int, tuple[weakref.ref[Any], Any, Any]] = {}


def array_properties() -> dict[str, property]:
    """What arrays that are parts of variables have besides."""
    return {name: property(functools.partial(_assigner, name)) for name in _SLICE_UPDATES}


def variable_methods() -> dict[str, Any]:
    """What variables have besides, by name."""
    methods: dict[str, Any] = {f"scatter_{name}": _scatter(way) for name, way in _ROW_UPDATES.items()}
    methods |= {f"scatter_nd_{name}": _scatter_nd(_ROW_UPDATES[name]) for name in _ND_UPDATES}
    methods["batch_scatter_update"] = _batch_scatter_update
    methods["sparse_read"] = lambda self, indices, name=None: gather(self, indices)
    methods["gather_nd"] = lambda self, indices, name=None: gather_nd(self, indices)
    return methods


def remember_part(original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A variable's `__getitem__` that remembers of which part its result is."""

    def part(self: Any, key: Any) -> Any:
        key = tuple(map(_index, key)) if isinstance(key, tuple) else _index(key)
        found = original(self, key)
        _remember(found, self, key)
        return found

    return part


def assign_and_return(original: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A variable's `assign`, `assign_add` or `assign_sub` with TensorFlow's arguments; returns the variable.

    In a trace it returns the new value, which control flow of JAX can carry, and which can be assigned to as well.
    """

    def assign(self: Any, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True) -> Any:
        result = original(self, value)
        if not read_value:
            return None
        if not keras_hooks.in_stateless_scope():
            return self
        if isinstance(result, jax.core.Tracer):  # an array would be remembered as long as the variable holds it
            _remember(result, self, ...)
        return result

    return assign


def _remember(found: Any, variable: Any, key: Any) -> None:
    number = id(found)
    _parts[number] = (weakref.ref(found, lambda _: _parts.pop(number, None)), variable, key)


def _index(key: Any) -> Any:
    return key.value if isinstance(key, keras.Variable) else key  # JAX asks what an index is before it asks its value


def _assigner(name: str, array: Any) -> Callable[..., Any]:
    """`v[key].assign`, `assign_add`, `assign_sub`. Only parts of variables have it: `hasattr` tells them apart."""
    if id(array) not in _parts:
        raise AttributeError(NO_VARIABLE.format(name=name))
    _, variable, key = _parts[id(array)]
    way = _SLICE_UPDATES[name]
    return lambda value, name=None, read_value=True: _update(variable, key, way, value)


def _scatter(way: str) -> Callable[..., Any]:
    def scatter(self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
        """Changes some rows, given as a `tf.IndexedSlices`; returns the variable."""
        return _update(self, hide_negative(sparse_delta.indices), way, sparse_delta.values)

    return scatter


def _scatter_nd(way: str) -> Callable[..., Any]:
    def scatter(self: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Changes some elements; the last dim of ``indices`` is the index of one. Returns the variable."""
        return _update(self, _nd_key(indices), way, updates)

    return scatter


def _batch_scatter_update(self: Any, sparse_delta: Any, use_locking: bool = False, name: str | None = None) -> Any:
    """Sets rows in each of a batch; returns the variable."""
    indices = hide_negative(sparse_delta.indices)
    batch = jnp.indices(indices.shape, sparse=True)[:-1]
    return _update(self, (*batch, indices), "set", sparse_delta.values)


def _nd_key(indices: Any) -> tuple[Any, ...]:
    return tuple(jnp.moveaxis(hide_negative(indices), -1, 0))


def _update(variable: Any, key: Any, way: str, value: Any) -> Any:
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
