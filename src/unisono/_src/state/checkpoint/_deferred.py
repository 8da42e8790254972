"""Values of a restored checkpoint whose objects are not there yet, as of `tf.train.Checkpoint` in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import keras

from unisono._src.state.checkpoint._attributes import names_by_attributes
from unisono._src.state.checkpoint._nodes import inner_nodes
from unisono._src.state.checkpoint._per_replica_values import is_per_replica_name
from unisono._src.state.checkpoint._restore import apply_snapshot
from unisono._src.state.checkpoint._shapes import SHAPES, build_from_shapes
from unisono._src.state.checkpoint._snapshot import Snapshot
from unisono._src.state.checkpoint._status import Restored
from unisono._src.state.checkpoint._tree import children, holds_variables, is_stateful, join_path, leaves
from unisono._src.state.store import JSON, LoadedCheckpoint


class DeferredValues:
    """What `restore` found no object for. Each value is used once, for the first object that has its name.

    Plain values, such as numbers, are left out: a number that is set after `restore` is meant to be the new one.

    Args:
        objects: returns what is restored, by name, as it is now.
        loaded: the checkpoint. Its arrays are read when they are used.
        status: the result of `restore`, whose lists are kept up to date: `assert_consumed()` may be called later.
    """

    def __init__(self, objects: Callable[[], Mapping[str, Any]], loaded: LoadedCheckpoint, status: Restored) -> None:
        self._objects = objects
        self._state: dict[str, Any] = loaded.state if isinstance(loaded.state, dict) else {}
        self._arrays = loaded.arrays
        self._attributes = names_by_attributes(loaded.state)
        # Its lists, not the status: that warns when it is dropped.
        self._unused, self._matched = status.unused, status.matched

    def has_values_inside(self, path: str) -> bool:
        """Whether there may be a value for an object inside the one at ``path``."""
        by_attribute = (name for name, stored in self._attributes.items() if stored in self._unused)
        return any(name.startswith(f"{path}/") for name in (*self._unused, *by_attribute))

    def restore(self, path: str, value: Any) -> None:
        """Restores the objects in ``value``, which is at ``path`` now. All processes have to call it."""
        if not self._unused:
            return
        self._expand_containers(path, value)
        found = {name: leaf for name, leaf in leaves({path: value}) if holds_variables(leaf) or is_stateful(leaf)}
        shapes = self._state.get(SHAPES)
        build_from_shapes(found, shapes)
        objects = {name: leaf for name, leaf in found.items() if self._may_have_value(name, leaf)}
        if not objects:
            return
        arrays = {
            name: array for name, array in self._arrays.items() if name in self._unused or is_per_replica_name(name)
        }
        nodes = {name: self._node(name) for name, leaf in objects.items() if is_stateful(leaf)}
        if any(isinstance(leaf, keras.optimizers.Optimizer) for leaf in objects.values()):
            # Slots are named after the variables of the models beside it, which keep their values.
            arrays = {name: array for name, array in arrays.items() if any(_is_at(name, each) for each in objects)}
            objects = {**self._objects(), **objects}
        state: JSON = {**self._state, "objects": {name: node for name, node in nodes.items() if node is not None}}
        result = apply_snapshot(objects, Snapshot(arrays, state), strict=False)
        left, restored = set(result.unused), set(result.matched)
        self._matched += result.matched
        self._unused[:] = [name for name in self._unused if (name in left if name in arrays else name not in restored)]

    def has_value(self, path: str) -> bool:
        """Whether there may be a value for the object at ``path``."""
        return path in self._unused or self._attributes.get(path) in self._unused

    def _may_have_value(self, path: str, leaf: Any) -> bool:
        if self.has_value(path) or self.has_values_inside(path):
            return True
        return is_stateful(leaf) and self._node(path) is not None

    def _expand_containers(self, path: str, value: Any) -> None:
        """The containers in ``value`` exist now: of stored ones only what is inside may still have no object."""
        inside = children(value, path)
        if inside is None:
            return
        if path in self._unused and path not in self._arrays:
            nodes = inner_nodes(self._find_node(path)) or {}
            self._unused.remove(path)
            self._unused += [join_path(path, name) for name, node in nodes.items() if node is not None]
        for name, item in inside.items():
            self._expand_containers(join_path(path, name), item)

    def _node(self, path: str) -> JSON:
        """The stored state of the object at ``path``, unless it is restored already."""
        if not any(_is_at(path, name) for name in self._unused):
            return None
        node = self._find_node(path)
        return node if isinstance(node, dict) and ("state" in node or "states" in node) else None

    def _find_node(self, path: str) -> JSON:
        node: JSON = {"dict": self._state.get("objects")}
        for name in path.split("/"):
            node = (inner_nodes(node) or {}).get(name)
        return node


def _is_at(name: str, path: str) -> bool:
    return name == path or name.startswith(f"{path}/")
