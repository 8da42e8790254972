"""Taking a snapshot: copies of all that decides the future of some objects, which training cannot change any more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import keras
import numpy as np

from unisono._src.keras_hooks import get_owner, raw_value, report_data_pull
from unisono._src.processes import all_gather_json, processes
from unisono._src.replicas import context
from unisono._src.state.checkpoint._names import named_variables
from unisono._src.state.checkpoint._nodes import Arrays, to_node
from unisono._src.state.checkpoint._replica_parts import parts_of
from unisono._src.state.checkpoint._tree import children, is_stateful, leaves
from unisono._src.state.store import JSON

NOT_BUILT = """{path!r} has no variables yet, so there is nothing to store or restore.
Build it first: model.build(input_shape), begin it with keras.Input(shape), or call it on a batch."""

ON_A_REPLICA = """A checkpoint cannot be saved or restored inside a function that `strategy.run` calls on each replica.
Do it in the loop around, once for all of them."""

NO_JSON = """The state of {path!r}, which its get_state() returned, is not JSON: at {where} stands {value}.
Expected: dicts with strings as keys, lists, strings, numbers, bools, None. Of a NumPy number write int(x) or float(x),
of an array x.tolist()."""


@dataclass(frozen=True)
class Snapshot:
    """What is stored of objects.

    Attributes:
        arrays: by name, the values of variables and other arrays; nobody else holds them. Only the chief has any: the
            other processes have nothing to write.
        state: all that is no array, as JSON.
    """

    arrays: Arrays
    state: JSON


def take_snapshot(objects: Mapping[str, Any]) -> Snapshot:
    """Copies of all variables of ``objects``, on the host, and the states of what has one.

    Of several processes all have to call it: a metric is summed over the replicas of all of them.
    """
    check_outside_of_programs()
    check_built(objects)
    variables = named_variables(objects)
    values = {name: _value(name, variable) for name, variable in variables.items()} | parts_of(variables)
    states = _states(objects)
    arrays: Arrays = {}
    if processes().is_chief:
        for value in values.values():
            value.copy_to_host_async()  # all of them on their way before the first is waited for
        # A copy also where np.asarray would do: on CPUs that is a view of memory which a program may be given.
        arrays = {name: np.array(value, copy=True) for name, value in values.items()}
    inside = children(objects) or {}
    nodes = {name: to_node(thing, name, states, arrays) for name, thing in inside.items()}
    return Snapshot(arrays if processes().is_chief else {}, {"objects": nodes})


def check_outside_of_programs() -> None:
    """Raises on a replica. Inside a function that is being traced, that function becomes a loop on the host."""
    if context.current_replica() is not None:
        raise RuntimeError(ON_A_REPLICA)
    report_data_pull()


def check_built(objects: Mapping[str, Any]) -> None:
    """Raises for models and layers that have no weights yet."""
    for path, thing in leaves(objects):
        if isinstance(thing, keras.Layer) and not thing.built and not thing.weights:
            raise ValueError(NOT_BUILT.format(path=path))


def _value(name: str, variable: Any) -> jax.Array:
    value = raw_value(variable)
    if value is None:
        raise ValueError(NOT_BUILT.format(path=name))
    owner = get_owner(variable)
    return value if owner is None else owner.placement.gather(value)


def _states(objects: Mapping[str, Any]) -> dict[str, JSON]:
    """The node of every object with a state, by path."""
    stateful = {path: thing for path, thing in leaves(objects) if is_stateful(thing)}
    if not stateful:
        return {}
    own: JSON = {}
    failure: Exception | None = None
    try:
        own = {path: _copied(thing.get_state(), path) for path, thing in stateful.items()}
    except Exception as error:  # raised below, when the others know
        failure = error
    everyones = all_gather_json(None if failure else own)
    if failure is not None:
        raise failure
    for name, said in zip(processes().names, everyones, strict=True):
        if said is None:
            raise RuntimeError(f"{name} could not tell the state of {', '.join(stateful)}; its own error says why.")
    return {path: _node([said[path] for said in everyones]) for path in stateful}


def _node(states: list[JSON]) -> JSON:
    """Workers that read data of their own are at other places in it."""
    return {"state": states[0]} if all(state == states[0] for state in states) else {"states": states}


def _copied(state: JSON, path: str, where: str = "the top") -> JSON:
    """The state as JSON will give it back, and nobody else's."""
    if state is None or (isinstance(state, bool | int | float | str) and not isinstance(state, np.generic)):
        return state
    if isinstance(state, list | tuple):
        return [_copied(item, path, f"[{index}]") for index, item in enumerate(state)]
    if isinstance(state, dict) and all(isinstance(key, str) for key in state):
        return {key: _copied(item, path, f"[{key!r}]") for key, item in state.items()}
    shown = f"{type(state).__name__} {state!r}"
    raise TypeError(NO_JSON.format(path=path, where=where, value=shown[:200]))
