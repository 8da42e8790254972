"""Taking a snapshot: copies of the variables and states of objects, which later training does not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from unisono._src.devices import is_sharded_over_processes
from unisono._src.keras_hooks import get_owner, raw_value, report_data_pull
from unisono._src.processes import all_gather_json, processes
from unisono._src.replicas import context
from unisono._src.state.checkpoint._names import named_variables
from unisono._src.state.checkpoint._nodes import Arrays, to_node
from unisono._src.state.checkpoint._per_replica_values import gather_per_replica_values
from unisono._src.state.checkpoint._pieces import copy_values
from unisono._src.state.checkpoint._tree import children, is_stateful, is_unbuilt, leaves
from unisono._src.state.store import JSON, ArrayInPieces

NOT_BUILT = """{path!r} has no variables yet, so there is nothing to store or restore.
Build it first: model.build(input_shape), begin it with keras.Input(shape), or call it on a batch."""

ON_A_REPLICA = """A checkpoint cannot be saved or restored inside a function that `strategy.run` calls on each replica.
Do it outside `run`, once for all of them."""

NO_JSON = """The state of {path!r}, which its get_state() returned, is not JSON: at {where} there is {value}.
Expected: dicts with strings as keys, lists, strings, numbers, bools, None. For a NumPy number write int(x) or float(x),
for an array x.tolist()."""


@dataclass(frozen=True)
class Snapshot:
    """What is stored of objects.

    Attributes:
        arrays: by name, copies of the values of variables and other arrays: on the chief all of them, on other
            processes only what they write, the pieces of values that are sharded over processes.
        state: everything else, as JSON.
    """

    arrays: Arrays
    state: JSON

    @property
    def in_parts(self) -> bool:
        """Whether all processes have something to write. They agree on that."""
        return any(isinstance(array, ArrayInPieces) for array in self.arrays.values())


def take_snapshot(objects: Mapping[str, Any]) -> Snapshot:
    """Copies of all variables of ``objects``, on the host, and the states of objects that have one.

    Of several processes all have to call it: a metric is summed over the replicas of all of them.
    """
    check_callable_here()
    check_built(objects)
    variables = named_variables(objects)
    values = {name: _value(name, variable) for name, variable in variables.items()} | gather_per_replica_values(
        variables
    )
    states = _states(objects)
    arrays = copy_values(values)
    inside = children(objects) or {}
    nodes = {name: to_node(value, name, states, arrays) for name, value in inside.items()}
    if not processes().is_chief:
        arrays = {name: array for name, array in arrays.items() if isinstance(array, ArrayInPieces)}
    return Snapshot(arrays, {"objects": nodes})


def check_callable_here() -> None:
    """Raises on a replica. A function that is being traced is run as a Python loop on the host instead."""
    if context.current_replica() is not None:
        raise RuntimeError(ON_A_REPLICA)
    report_data_pull()


def check_built(objects: Mapping[str, Any]) -> None:
    """Raises for models and layers that have no weights yet."""
    for path, value in leaves(objects):
        if is_unbuilt(value):
            raise ValueError(NOT_BUILT.format(path=path))


def _value(name: str, variable: Any) -> Any:
    value = raw_value(variable)
    if value is None:
        raise ValueError(NOT_BUILT.format(path=name))
    owner = get_owner(variable)
    return value if owner is None or is_sharded_over_processes(value) else owner.placement.gather(value)


def _states(objects: Mapping[str, Any]) -> dict[str, JSON]:
    """The node of every object with a state, by path."""
    stateful = {path: value for path, value in leaves(objects) if is_stateful(value)}
    if not stateful:
        return {}
    own: JSON = {}
    failure: Exception | None = None
    try:
        own = {path: _copy_state(value.get_state(), path) for path, value in stateful.items()}
    except Exception as error:  # raised below, when the other processes have been informed
        failure = error
    gathered = all_gather_json(None if failure else own)
    if failure is not None:
        raise failure
    for name, states in zip(processes().names, gathered, strict=True):
        if states is None:
            raise RuntimeError(f"{name} could not get the state of {', '.join(stateful)}; see its error.")
    return {path: _state_node([states[path] for states in gathered]) for path in stateful}


def _state_node(states: list[JSON]) -> JSON:
    """One state, or one for each process: workers that read data of their own are at different positions in it."""
    return {"state": states[0]} if all(state == states[0] for state in states) else {"states": states}


def _copy_state(state: JSON, path: str, where: str = "the top") -> JSON:
    """A copy of the state, as JSON gives it back."""
    if state is None or (isinstance(state, bool | int | float | str) and not isinstance(state, np.generic)):
        return state
    if isinstance(state, list | tuple):
        return [_copy_state(item, path, f"[{index}]") for index, item in enumerate(state)]
    if isinstance(state, dict) and all(isinstance(key, str) for key in state):
        return {key: _copy_state(item, path, f"[{key!r}]") for key, item in state.items()}
    shown = f"{type(state).__name__} {state!r}"
    raise TypeError(NO_JSON.format(path=path, where=where, value=shown[:200]))
