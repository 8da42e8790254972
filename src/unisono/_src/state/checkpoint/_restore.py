"""Putting stored values back into objects: all is compared first, so that nothing is changed if something is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np

from unisono._src.processes import processes
from unisono._src.state.checkpoint._across_processes import run_on_all
from unisono._src.state.checkpoint._attributes import found_by_attributes, names_by_attributes
from unisono._src.state.checkpoint._building import build_optimizers, metrics_not_made, optional_paths, unbuilt_paths
from unisono._src.state.checkpoint._names import describe_mismatch, named_variables
from unisono._src.state.checkpoint._nodes import array_names, from_node, inner_nodes, is_plain_node
from unisono._src.state.checkpoint._replica_parts import are_parts, restore_parts
from unisono._src.state.checkpoint._snapshot import NOT_BUILT, check_built, check_outside_of_programs
from unisono._src.state.checkpoint._status import Restored, abbreviate_names
from unisono._src.state.checkpoint._tree import Group, children, is_holder, is_plain, is_stateful, join_path
from unisono._src.state.store import JSON

MISMATCH = """{where} does not fit these objects.
{problems}
Make the objects as they were made when it was saved{remedy}."""

OTHER_PROCESSES = """{path} was stored by {stored} processes, each at its own place in its own data; here are {here}.
Start as many, or distribute the data with experimental_distribute_dataset(dataset) and the default sharding, whose
place is the same for any number of them."""

_ABSENT: Any = object()


class CheckpointMismatch(ValueError):  # noqa: N818 (it names what is wrong, not that something is)
    """A checkpoint is good, and does not fit the objects that it is to be restored into."""


class Holding(Protocol):
    """What can be restored: a snapshot, or one that was read from the disk."""

    @property
    def arrays(self) -> Mapping[str, Any]: ...
    @property
    def state(self) -> JSON: ...


def apply_snapshot(objects: Mapping[str, Any], stored: Holding, strict: bool | None = None) -> Restored:
    """Restores ``objects``, which are changed in place; values such as numbers are exchanged in their container.

    A variable of another shape or dtype is always an error. With several processes all have to call it, each with
    the same values.

    Args:
        objects: by the names under which they were stored.
        stored: what :func:`take_snapshot` gave.
        strict: None: an object without a value is an error, a value without an object a warning, when the result is
            dropped without `expect_partial()`. True: both are errors. False: neither.
    """
    check_outside_of_programs()
    plan = run_on_all(lambda: _compared(objects, stored, strict))
    run_on_all(lambda: plan.carry_out(objects))
    return Restored(
        plan.where,
        [*plan.variables, *plan.taken],
        plan.missing,
        plan.unused,
        warn=strict is None and processes().is_chief,
    )


@dataclass
class _Plan:
    """What goes where."""

    where: str
    arrays: Mapping[str, Any]
    nodes: dict[str, JSON]
    attributes: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    stored_names: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def carry_out(self, objects: Mapping[str, Any]) -> None:
        # States first: an object of the user's may refuse its own, and the variables are then what they were.
        _put(objects, {"dict": self.nodes}, self.arrays, frozenset(self.taken), "")
        for name, variable in self.variables.items():
            # A copy: on CPUs JAX would use the memory of the caller's array.
            stored_name = self.stored_names[name]
            variable.assign(jnp.array(self.arrays[stored_name]))
            restore_parts(stored_name, variable, self.arrays)


def _compared(objects: Mapping[str, Any], stored: Holding, strict: bool | None) -> _Plan:
    folder = getattr(stored, "folder", None)
    nodes = stored.state.get("objects") if isinstance(stored.state, dict) else None
    plan = _Plan(
        "The snapshot" if folder is None else f"The checkpoint {str(folder)!r}",
        stored.arrays,
        dict(nodes) if isinstance(nodes, dict) else {},
        names_by_attributes(stored.state),
    )
    check_built(objects)
    build_optimizers(objects, plan.arrays)
    _compare(plan, objects, {"dict": plan.nodes}, "")
    _compare_variables(plan, objects)
    _set_aside(plan, objects, strict)
    problems = list(plan.wrong)
    if plan.missing and strict is not False:
        problems.append(f"  without a value in it: {abbreviate_names(plan.missing)}")
    if plan.unused and strict is True:
        problems.append(f"  values that nobody takes: {abbreviate_names(plan.unused)}")
    if problems:
        remedy = "" if plan.wrong else ", or pass strict=False to take what there is"
        raise CheckpointMismatch(MISMATCH.format(where=plan.where, problems="\n".join(problems), remedy=remedy))
    return plan


def _compare_variables(plan: _Plan, objects: Mapping[str, Any]) -> None:
    named = named_variables(objects)
    # What was not there by itself may be inside of an object that was: then it is spelled by attributes.
    spelled = {name for name in named for path in plan.unknown if name == path or _is_inside(name, path)}
    names = {name: name for name in named if name in plan.arrays and name not in spelled}
    values = set(array_names({"dict": plan.nodes}))
    wanted = {name: variable for name, variable in named.items() if name not in names}
    left = {name: array for name, array in plan.arrays.items() if name not in names and name not in values}
    names |= found_by_attributes(objects, wanted, left, plan.attributes)
    for name, variable in named.items():
        if name not in names:
            plan.missing.append(name)
            continue
        wrong = describe_mismatch(name, variable, plan.arrays[names[name]])
        if wrong is None:
            plan.variables[name] = variable
        else:
            plan.wrong.append(f"  {wrong}")
    plan.stored_names = names
    known = {*names.values(), *values}
    plan.unused += [name for name in plan.arrays if name not in known and not are_parts(name)]


def _compare(plan: _Plan, thing: Any, node: JSON, path: str) -> None:
    """Notes for ``thing`` and all inside whether ``node``, or _ABSENT, has what it takes."""
    if is_stateful(thing):
        _compare_state(plan, node, path)
    elif is_holder(thing):
        if node is _ABSENT:
            plan.unknown.append(path)
        elif node is not None:
            plan.unused.append(path)
    elif path and not isinstance(thing, Group) and is_plain(thing):
        if node is not _ABSENT and is_plain_node(node):
            plan.taken.append(path)
        else:
            plan.missing.append(path)
            if node is not _ABSENT and node is not None:
                plan.unused.append(path)
    else:
        inside = children(thing, path) or {}
        nodes = (inner_nodes(node) or {}) if node is not _ABSENT else {}
        for name, item in inside.items():
            _compare(plan, item, nodes.get(name, _ABSENT), join_path(path, name))
        for name, inner in nodes.items():
            if name not in inside and inner is not None:
                plan.unused.append(join_path(path, name))


def _compare_state(plan: _Plan, node: JSON, path: str) -> None:
    if node is _ABSENT or not isinstance(node, dict) or not ("state" in node or "states" in node):
        plan.missing.append(path)
        if node is not _ABSENT and node is not None:
            plan.unused.append(path)
        return
    if "states" in node and len(node["states"]) != processes().count:
        counts = {"stored": len(node["states"]), "here": processes().count}
        plan.wrong.append("  " + OTHER_PROCESSES.format(path=path, **counts))
    plan.taken.append(path)


def _set_aside(plan: _Plan, objects: Mapping[str, Any], strict: bool | None) -> None:
    """Takes out what is not to be complained about, and complains at once where a model is only half built."""
    if strict is not True:
        # An optimizer and metrics come with `compile`: a checkpoint of a model that was not compiled has none.
        for path in optional_paths(objects):
            if not any(_is_inside(name, path) for name in plan.arrays):
                plan.missing = [name for name in plan.missing if not _is_inside(name, path)]
    for path in metrics_not_made(objects):
        plan.unused = [name for name in plan.unused if not _is_inside(name, path)]
    if strict is not False:
        for path in unbuilt_paths(objects):
            if any(_is_inside(name, path) for name in plan.unused):
                raise ValueError(NOT_BUILT.format(path=path))


def _put(thing: Any, node: JSON, arrays: Mapping[str, Any], taken: frozenset[str], path: str) -> Any:
    """Restores states inside of ``thing`` and exchanges values; returns what should stand in its place."""
    if path in taken:
        if not is_stateful(thing):
            return _exchanged(thing, from_node(node, arrays))
        thing.set_state(node["state"] if "state" in node else node["states"][processes().index])
        return thing
    inside = children(thing)
    if inside is None:
        return thing
    nodes = inner_nodes(node) or {}
    new = {name: _put(item, nodes.get(name), arrays, taken, join_path(path, name)) for name, item in inside.items()}
    changed = {name: item for name, item in new.items() if item is not inside[name]}
    if not changed:
        return thing
    if isinstance(thing, tuple):
        return _tuple_like(thing, new.values())
    target: Any = thing._objects if isinstance(thing, Group) else thing
    for name, item in changed.items():
        target[int(name) if isinstance(target, list) else name] = item
    return thing


def _exchanged(old: Any, new: Any) -> Any:
    """``new``, in the old container or array where somebody may hold that."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        if old.shape == new.shape and old.dtype == new.dtype and old.flags.writeable:
            old[...] = new
            return old
    elif isinstance(old, list) and isinstance(new, list):
        old[:] = new
        return old
    elif isinstance(old, dict) and isinstance(new, dict):
        old.clear()
        old.update(new)
        return old
    elif isinstance(old, tuple) and isinstance(new, tuple):
        return _tuple_like(old, new)
    return new


def _tuple_like(old: tuple[Any, ...], items: Any) -> tuple[Any, ...]:
    return type(old)(*items) if hasattr(old, "_fields") else type(old)(items)


def _is_inside(name: str, path: str) -> bool:
    return name.startswith(f"{path}/")
