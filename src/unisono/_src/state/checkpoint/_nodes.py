"""The state of a checkpoint: what it stores of objects beside the arrays of their variables, one JSON node for each.

None                            only the variables are stored
{"state": ...}                  what its get_state() returned, the same on all processes
{"states": [...]}               the same for each process
{"value": ...}                  a number, a string, a bool, None
{"array": name, "as": "numpy"}  an array, stored under that name; also "scalar" and "jax"
{"dict": {...}}, {"list": [...]}, {"tuple": [...]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from unisono._src.state.checkpoint._tree import Group, children, holds_variables, is_array, is_stateful, join_path
from unisono._src.state.store import JSON

Arrays = dict[str, Any]
"""NumPy arrays by name; in a snapshot of state that is sharded over processes also `ArrayInPieces`."""


def to_node(value: Any, path: str, states: Mapping[str, JSON], arrays: Arrays) -> JSON:
    """The node of ``value``. Arrays that are values by themselves are added to ``arrays``."""
    inside = children(value)
    if inside is not None:
        nodes = {name: to_node(item, join_path(path, name), states, arrays) for name, item in inside.items()}
        if isinstance(value, Group | Mapping):
            return {"dict": nodes}
        return {"tuple" if isinstance(value, tuple) else "list": list(nodes.values())}
    if is_stateful(value):
        return states[path]
    if holds_variables(value):
        return None
    if not is_array(value):
        return {"value": value}
    name = path
    while name in arrays:
        name += "~"
    arrays[name] = np.array(value, copy=True)
    kind = "jax" if isinstance(value, jax.Array) else "numpy" if isinstance(value, np.ndarray) else "scalar"
    return {"array": name, "as": kind}


def inner_nodes(node: JSON) -> dict[str, JSON] | None:
    """The nodes inside the node of a container, by name; None if it is not one."""
    if not isinstance(node, dict):
        return None
    if isinstance(node.get("dict"), dict):
        return dict(node["dict"])
    items = node.get("list", node.get("tuple"))
    return {str(index): item for index, item in enumerate(items)} if isinstance(items, list) else None


def is_plain_node(node: JSON) -> bool:
    """Whether it is a value, or a container of values, and not the state of an object."""
    inside = inner_nodes(node)
    if inside is not None:
        return all(map(is_plain_node, inside.values()))
    return isinstance(node, dict) and ("value" in node or "array" in node)


def array_names(node: JSON) -> list[str]:
    """The names of the arrays that are values in it."""
    inside = inner_nodes(node)
    if inside is not None:
        return [name for item in inside.values() for name in array_names(item)]
    return [node["array"]] if isinstance(node, dict) and isinstance(node.get("array"), str) else []


def from_node(node: JSON, arrays: Mapping[str, Any]) -> Any:
    """The value of a plain node."""
    inside = inner_nodes(node)
    if inside is not None:
        values = {name: from_node(item, arrays) for name, item in inside.items()}
        if "dict" in node:
            return values
        return tuple(values.values()) if "tuple" in node else list(values.values())
    if "value" in node:
        return node["value"]
    array = np.asarray(arrays[node["array"]])
    if node["as"] == "jax":
        return jnp.array(array)
    return array[()] if node["as"] == "scalar" else np.array(array)
