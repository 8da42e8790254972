"""`tf.compat.v1.assign` and its like: functions of TensorFlow 1 that are methods of variables in TensorFlow 2."""

from __future__ import annotations

from typing import Any

from unisono.tf._indexed_slices import IndexedSlices


def assign(ref: Any, value: Any, validate_shape: Any = None, use_locking: Any = None, name: Any = None) -> Any:
    """Sets the variable, now; returns it."""
    return ref.assign(value)


def assign_add(ref: Any, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """Adds to the variable; returns it."""
    return ref.assign_add(value)


def assign_sub(ref: Any, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """Subtracts from the variable; returns it."""
    return ref.assign_sub(value)


def scatter_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Any = None) -> Any:
    """Sets rows of the variable; returns it."""
    return ref.scatter_update(IndexedSlices(updates, indices))


def scatter_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None) -> Any:
    """Adds to rows of the variable; returns it."""
    return ref.scatter_add(IndexedSlices(updates, indices))


def scatter_sub(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None) -> Any:
    """Subtracts from rows of the variable; returns it."""
    return ref.scatter_sub(IndexedSlices(updates, indices))


def scatter_nd_update(ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: Any = None) -> Any:
    """Sets elements of the variable; returns it."""
    return ref.scatter_nd_update(indices, updates)


def scatter_nd_add(ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: Any = None) -> Any:
    """Adds to elements of the variable; returns it."""
    return ref.scatter_nd_add(indices, updates)


def global_variables_initializer() -> None:
    """Does nothing, as in TensorFlow's eager execution: variables have a value as soon as they exist."""


def variables_initializer(var_list: Any, name: str = "init") -> None:
    """Does nothing, as in TensorFlow's eager execution: variables have a value as soon as they exist."""


initialize_all_tables = initialize_local_variables = global_variables_initializer
initialize_all_variables = local_variables_initializer = tables_initializer = global_variables_initializer
