"""Values of a restored checkpoint whose objects are not there yet, as of `tf.train.Checkpoint` in TensorFlow."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras

from unisono._src.state.checkpoint._attributes import names_by_attributes
from unisono._src.state.checkpoint._nodes import inner_nodes
from unisono._src.state.checkpoint._per_replica_values import is_per_replica_name
from unisono._src.state.checkpoint._restore import apply_snapshot
from unisono._src.state.checkpoint._shapes import SHAPES, build_from_shapes
from unisono._src.state.checkpoint._snapshot import Snapshot
from unisono._src.state.checkpoint._status import Restored
from unisono._src.state.checkpoint._tree import children, holds_variables, is_stateful, is_unbuilt, join_path
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
        self._attributes = names_by_attributes(loaded.state)
        # Its lists, not the status: that warns when it is dropped.
        self._unused, self._matched = status.unused, status.matched
        # Other arrays are not kept: they may be in memory, or in a temporary copy of a remote file.
        unused = set(status.unused)
        self._arrays = {
            name: array
            for name, array in loaded.arrays.items()
            if is_per_replica_name(name) or not unused.isdisjoint(_paths_to(name))
        }

    def has_values_inside(self, path: str) -> bool:
        """Whether there may be a value for an object inside the one at ``path``."""
        by_attribute = (name for name, stored in self._attributes.items() if stored in self._unused)
        return any(name.startswith(f"{path}/") for name in (*self._unused, *by_attribute))

    def concern(self, path: str) -> bool:
        """Whether there may be a value for what is at ``path``, inside of it, or around it."""
        is_inside = any(_is_at(path, name) for name in self._unused)
        return is_inside or self.has_value(path) or self.has_values_inside(path)

    def restore(self, path: str, value: Any) -> None:
        """Restores the objects in ``value``, which is at ``path`` now. All processes have to call it.

        What cannot be stored, such as a function in a list, is left out: the user did not ask to save it.
        """
        if not self.concern(path):
            return
        found = {}
        for name, each in _walk(path, value):
            if _items(each) is not None:
                self._expand_container(name)
            elif holds_variables(each) or is_stateful(each):
                found[name] = each
        objects = {name: leaf for name, leaf in found.items() if self._may_have_value(name, leaf)}
        if not objects:
            return
        build_from_shapes(objects, self._state.get(SHAPES))
        arrays = {
            name: array for name, array in self._arrays.items() if name in self._unused or is_per_replica_name(name)
        }
        nodes = {name: self._node(name) for name, leaf in objects.items() if is_stateful(leaf)}
        if any(isinstance(leaf, keras.optimizers.Optimizer) for leaf in objects.values()):
            # Slots are named after the variables of the models beside it, which keep their values.
            arrays = {name: array for name, array in arrays.items() if any(_is_at(name, each) for each in objects)}
            built = {name: each for name, each in self._objects().items() if not is_unbuilt(each)}
            objects = {**built, **objects}
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

    def _expand_container(self, path: str) -> None:
        """The container at ``path`` exists now: if it is a stored one, only what is inside may still have no object."""
        if path in self._unused and path not in self._arrays:
            nodes = inner_nodes(self._find_node(path)) or {}
            self._unused.remove(path)
            self._unused += [join_path(path, name) for name, node in nodes.items() if node is not None]

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


def _walk(path: str, value: Any, around: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """``value`` and everything inside of it with its path, containers first."""
    yield path, value
    for name, item in (_items(value) or {}).items():
        if id(item) not in around:
            yield from _walk(join_path(path, name), item, (*around, id(value)))


def _items(value: Any) -> dict[str, Any] | None:
    """The items of a container that can be stored; None for anything else."""
    has_other_keys = isinstance(value, Mapping) and not all(isinstance(key, str) for key in value)
    return None if has_other_keys else children(value)


def _paths_to(name: str) -> list[str]:
    """`a`, `a/b` and `a/b/c` of `a/b/c`."""
    return list(itertools.accumulate(name.split("/"), join_path))


def _is_at(name: str, path: str) -> bool:
    return name == path or name.startswith(f"{path}/")
