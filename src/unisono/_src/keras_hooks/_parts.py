"""Hook: a Keras variable with `synchronization="on_read"`, as metrics have, holds a part for each replica.

Checked against Keras 3.15.1: `_value` is a plain attribute of a variable. Here it is a property: the whole, made of the
parts when somebody reads it across replicas. So `fit`, which knows only wholes, checkpoints and `repr` see the truth.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

from unisono._src.devices import Placement
from unisono._src.keras_hooks._owner import get_owner
from unisono._src.replicas import context
from unisono._src.replicas.values import aggregate_on_devices, spread_on_devices

# By identity: variables cannot be hashed, since == compares their values.
_known: dict[int, weakref.ref[Any]] = {}


def become_on_read(variable: Any) -> None:
    """From now on the variable, which belongs to a strategy, has parts."""
    value = variable.__dict__.pop("_value", None)
    kind: Any = type(variable)
    variable.__class__ = _on_read_class(kind)
    _remember(variable)
    if value is not None:
        variable._value = value


def on_read_variables(strategy: context.HasPlacement) -> list[Any]:
    """All variables of ``strategy`` that have parts, in the order in which they were made."""
    alive = [reference() for reference in list(_known.values())]
    return [variable for variable in alive if variable is not None and get_owner(variable) is strategy]


@functools.cache
def _on_read_class(kind: type) -> type:
    """A subclass of the variable's class whose values are parts."""
    members = {"_value": property(_whole, _set_whole), "_replica_values": _values, "__setstate__": _set_state}
    return type(f"OnRead{kind.__name__}", (kind,), members)


def is_on_read(variable: Any) -> bool:
    """Whether ``variable`` has parts."""
    return hasattr(variable, "_replica_values")


def get_replica_values(variable: Any) -> Any:
    """The parts, with the replicas as their first dimension, each on its device."""
    state = variable.__dict__
    if state.get("_parts") is None:
        state["_parts"] = spread_on_devices(state["_whole"], variable.aggregation, _placement(variable))
    return state["_parts"]


def set_aggregated_value(variable: Any, whole: Any) -> None:
    """Says what the whole of the present parts is."""
    variable.__dict__["_whole"] = whole


def num_replica_values(variable: Any) -> int:
    """How many there are, in all processes."""
    return _placement(variable).num_replicas


def get_stored_value(variable: Any) -> Any:
    """The array of a variable as a program over all replicas takes it: of one that has parts, all of them."""
    return get_replica_values(variable) if is_on_read(variable) else variable._value


def set_stored_value(variable: Any, state: Any) -> None:
    """Puts what such a program gives for :func:`stored` back, without a copy."""
    if is_on_read(variable):
        variable.__dict__.update(_parts=state, _whole=None)
    else:
        variable._value = state


def _remember(variable: Any) -> None:
    key = id(variable)
    _known[key] = weakref.ref(variable, lambda _: _known.pop(key, None))


def _set_state(self: Any, state: dict[str, Any]) -> None:
    """For `copy`: the copy is one more variable with parts."""
    self.__dict__.update(state)
    _remember(self)


def _whole(self: Any) -> Any:
    state = self.__dict__
    if state.get("_whole") is None and state.get("_parts") is not None:
        state["_whole"] = aggregate_on_devices(state["_parts"], self.aggregation, self.path, _placement(self))
    return state.get("_whole")


def _set_whole(self: Any, value: Any) -> None:
    self.__dict__.update(_whole=value, _parts=None)


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(part[0] for part in _placement(self).local_shards(get_replica_values(self)))


def _placement(variable: Any) -> Placement:
    owner = get_owner(variable)
    assert owner is not None, "only variables of a strategy have parts"
    return owner.placement
