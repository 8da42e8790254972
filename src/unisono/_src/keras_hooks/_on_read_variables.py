"""Hook: a Keras variable with `synchronization="on_read"`, as metrics have, holds a value for each replica.

Checked against Keras 3.15.1: `_value` is a plain attribute of a variable. Here it is a property: the aggregated value,
made of the per-replica values when it is read across replicas. So `fit`, which uses aggregated values only,
checkpoints and `repr` see the right value.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

import keras

from unisono._src import hooks
from unisono._src.devices import Placement
from unisono._src.keras_hooks._attributes import get_owner
from unisono._src.replicas import context
from unisono._src.replicas.values import aggregate_on_devices, spread_on_devices

# By identity: variables cannot be hashed, since == compares their values.
_known: dict[int, weakref.ref[Any]] = {}


def check_variable_attributes() -> None:
    """Checks that a variable's value is a plain attribute of it."""
    why = "metrics on replicas: an on-read variable has a property of this name"
    hooks.require(keras.Variable, "_value", expects="instance attribute", why=why)


def become_on_read(variable: Any) -> None:
    """From now on the variable, which belongs to a strategy, has per-replica values."""
    value = variable.__dict__.pop("_value", None)
    kind: Any = type(variable)
    variable.__class__ = _on_read_class(kind)
    _remember(variable)
    if value is not None:
        variable._value = value


def on_read_variables(strategy: context.HasPlacement) -> list[Any]:
    """All variables of ``strategy`` that have per-replica values, in the order in which they were made."""
    alive = [reference() for reference in list(_known.values())]
    return [variable for variable in alive if variable is not None and get_owner(variable) is strategy]


@functools.cache
def _on_read_class(kind: type) -> type:
    """A subclass of the variable's class that holds per-replica values."""
    members = {"_value": property(_aggregated, _set_aggregated), "_replica_values": _values, "__setstate__": _set_state}
    return type(f"OnRead{kind.__name__}", (kind,), members)


def is_on_read(variable: Any) -> bool:
    """Whether ``variable`` has per-replica values."""
    return hasattr(variable, "_replica_values")


def get_replica_values(variable: Any) -> Any:
    """The per-replica values, with the replicas as their first dimension, each on its device."""
    state = variable.__dict__
    if state.get("_per_replica") is None:
        state["_per_replica"] = spread_on_devices(state["_aggregated"], variable.aggregation, _placement(variable))
    return state["_per_replica"]


def set_aggregated_value(variable: Any, value: Any) -> None:
    """Sets the aggregated value that belongs to the present per-replica values."""
    variable.__dict__["_aggregated"] = value


def num_replica_values(variable: Any) -> int:
    """How many there are, in all processes."""
    return _placement(variable).num_replicas


def get_stored_value(variable: Any) -> Any:
    """The array of a variable as a program over all replicas takes it: all per-replica values of an on-read one."""
    return get_replica_values(variable) if is_on_read(variable) else variable._value


def set_stored_value(variable: Any, state: Any) -> None:
    """Stores what such a program returns for :func:`get_stored_value`, without a copy."""
    if is_on_read(variable):
        variable.__dict__.update(_per_replica=state, _aggregated=None)
    else:
        variable._value = state


def _remember(variable: Any) -> None:
    key = id(variable)
    _known[key] = weakref.ref(variable, lambda _: _known.pop(key, None))


def _set_state(self: Any, state: dict[str, Any]) -> None:
    """For `copy`: the copy is one more variable with per-replica values."""
    self.__dict__.update(state)
    _remember(self)


def _aggregated(self: Any) -> Any:
    state = self.__dict__
    if state.get("_aggregated") is None and state.get("_per_replica") is not None:
        state["_aggregated"] = aggregate_on_devices(
            state["_per_replica"], self.aggregation, self.path, _placement(self)
        )
    return state.get("_aggregated")


def _set_aggregated(self: Any, value: Any) -> None:
    self.__dict__.update(_aggregated=value, _per_replica=None)


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(value[0] for value in _placement(self).local_shards(get_replica_values(self)))


def _placement(variable: Any) -> Placement:
    owner = get_owner(variable)
    assert owner is not None, "only variables of a strategy have per-replica values"
    return owner.placement
