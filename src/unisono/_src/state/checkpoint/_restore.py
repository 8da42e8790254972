"""Restoring stored values into objects: all are compared first, so that nothing is changed if something is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from unisono._src.processes import processes
from unisono._src.state.checkpoint._across_processes import run_on_all
from unisono._src.state.checkpoint._attributes import match_by_attributes, names_by_attributes
from unisono._src.state.checkpoint._building import (
    build_optimizers,
    optional_paths,
    unbuilt_paths,
    unmade_metrics_paths,
)
from unisono._src.state.checkpoint._names import describe_mismatch, named_variables
from unisono._src.state.checkpoint._nodes import array_names, from_node, inner_nodes, is_plain_node
from unisono._src.state.checkpoint._per_replica_values import is_per_replica_name, restore_per_replica_values
from unisono._src.state.checkpoint._pieces import assign_stored
from unisono._src.state.checkpoint._snapshot import NOT_BUILT, check_built, check_callable_here
from unisono._src.state.checkpoint._status import Restored, abbreviate_names
from unisono._src.state.checkpoint._tree import Group, children, holds_variables, is_plain, is_stateful, join_path
from unisono._src.state.store import JSON

MISMATCH = """{where} does not fit these objects.
{problems}
Make the objects as they were made when it was saved{remedy}."""

OTHER_PROCESSES = """{path} was stored by {stored} processes, each at its own position in its own data; there are
{here} now. Start as many, or distribute the data with experimental_distribute_dataset(dataset) and the default
sharding, whose position is the same for any number of them."""

_ABSENT: Any = object()


class CheckpointMismatch(ValueError):  # noqa: N818 (`except CheckpointMismatch` reads better)
    """A checkpoint is readable, and does not fit the objects that it is restored into."""


class SnapshotLike(Protocol):
    """What can be restored: a snapshot, or a loaded checkpoint."""

    @property
    def arrays(self) -> Mapping[str, Any]: ...
    @property
    def state(self) -> JSON: ...


def apply_snapshot(objects: Mapping[str, Any], stored: SnapshotLike, strict: bool | None = None) -> Restored:
    """Restores ``objects``, which are changed in place; values such as numbers are replaced in their container.

    A variable of another shape or dtype is always an error. With several processes all have to call it, each with
    the same values.

    Args:
        objects: by the names under which they were stored.
        stored: what :func:`take_snapshot` returned.
        strict: None: an object without a value is an error, a value without an object a warning, when the result is
            dropped without `expect_partial()`. True: both are errors. False: neither.
    """
    check_callable_here()
    plan = run_on_all(lambda: _make_plan(objects, stored, strict))
    run_on_all(lambda: plan.carry_out(objects))
    return Restored(
        plan.where,
        [*plan.variables, *plan.restored],
        plan.missing,
        plan.unused,
        warn=strict is None and processes().is_chief,
    )


@dataclass
class _RestorePlan:
    """Which stored value belongs to which object, and what does not fit."""

    where: str
    arrays: Mapping[str, Any]
    nodes: dict[str, JSON]
    attributes: dict[str, str] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    stored_names: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    restored: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def carry_out(self, objects: Mapping[str, Any]) -> None:
        # States first: a user-defined object may refuse its state, and the variables are then unchanged.
        _restore_values(objects, {"dict": self.nodes}, self.arrays, frozenset(self.restored), "")
        for name, variable in self.variables.items():
            stored_name = self.stored_names[name]
            assign_stored(variable, self.arrays[stored_name])
            restore_per_replica_values(stored_name, variable, self.arrays)


def _make_plan(objects: Mapping[str, Any], stored: SnapshotLike, strict: bool | None) -> _RestorePlan:
    folder = getattr(stored, "folder", None)
    nodes = stored.state.get("objects") if isinstance(stored.state, dict) else None
    plan = _RestorePlan(
        "The snapshot" if folder is None else f"The checkpoint {str(folder)!r}",
        stored.arrays,
        dict(nodes) if isinstance(nodes, dict) else {},
        names_by_attributes(stored.state),
    )
    check_built(objects)
    build_optimizers(objects, plan.arrays)
    _compare(plan, objects, {"dict": plan.nodes}, "")
    _compare_variables(plan, objects)
    _drop_expected_differences(plan, objects, strict)
    problems = list(plan.wrong)
    if plan.missing and strict is not False:
        problems.append(f"  without a value in it: {abbreviate_names(plan.missing)}")
    if plan.unused and strict is True:
        problems.append(f"  values without an object: {abbreviate_names(plan.unused)}")
    if problems:
        remedy = "" if plan.wrong else ", or pass strict=False to take what there is"
        raise CheckpointMismatch(MISMATCH.format(where=plan.where, problems="\n".join(problems), remedy=remedy))
    return plan


def _compare_variables(plan: _RestorePlan, objects: Mapping[str, Any]) -> None:
    named = named_variables(objects)
    # An object that was not stored under its name may be inside one that was: it is then found by attributes.
    inside_unknown = {name for name in named for path in plan.unknown if name == path or _is_inside(name, path)}
    names = {name: name for name in named if name in plan.arrays and name not in inside_unknown}
    values = set(array_names({"dict": plan.nodes}))
    wanted = {name: variable for name, variable in named.items() if name not in names}
    unclaimed = {name: array for name, array in plan.arrays.items() if name not in names and name not in values}
    names |= match_by_attributes(objects, wanted, unclaimed, plan.attributes)
    for name, variable in named.items():
        if name not in names:
            plan.missing.append(name)
            continue
        mismatch = describe_mismatch(name, variable, plan.arrays[names[name]])
        if mismatch is None:
            plan.variables[name] = variable
        else:
            plan.wrong.append(f"  {mismatch}")
    plan.stored_names = names
    known = {*names.values(), *values}
    plan.unused += [name for name in plan.arrays if name not in known and not is_per_replica_name(name)]


def _compare(plan: _RestorePlan, value: Any, node: JSON, path: str) -> None:
    """Records for ``value`` and everything inside whether ``node``, or _ABSENT, has a value for it."""
    if is_stateful(value):
        _compare_state(plan, node, path)
    elif holds_variables(value):
        if node is _ABSENT:
            plan.unknown.append(path)
        elif node is not None:
            plan.unused.append(path)
    elif path and not isinstance(value, Group) and is_plain(value):
        if node is not _ABSENT and is_plain_node(node):
            plan.restored.append(path)
        else:
            plan.missing.append(path)
            if node is not _ABSENT and node is not None:
                plan.unused.append(path)
    else:
        inside = children(value, path) or {}
        nodes = (inner_nodes(node) or {}) if node is not _ABSENT else {}
        for name, item in inside.items():
            _compare(plan, item, nodes.get(name, _ABSENT), join_path(path, name))
        for name, inner in nodes.items():
            if name not in inside and inner is not None:
                plan.unused.append(join_path(path, name))


def _compare_state(plan: _RestorePlan, node: JSON, path: str) -> None:
    if node is _ABSENT or not isinstance(node, dict) or not ("state" in node or "states" in node):
        plan.missing.append(path)
        if node is not _ABSENT and node is not None:
            plan.unused.append(path)
        return
    if "states" in node and len(node["states"]) != processes().count:
        counts = {"stored": len(node["states"]), "here": processes().count}
        plan.wrong.append("  " + OTHER_PROCESSES.format(path=path, **counts))
    plan.restored.append(path)


def _drop_expected_differences(plan: _RestorePlan, objects: Mapping[str, Any], strict: bool | None) -> None:
    """Drops differences that are no error. Raises at once where a model is only half built."""
    if strict is not True:
        # Optimizer and metrics come with `compile`: a checkpoint of a model that was not compiled has none.
        for path in optional_paths(objects):
            if not any(_is_inside(name, path) for name in plan.arrays):
                plan.missing = [name for name in plan.missing if not _is_inside(name, path)]
    for path in unmade_metrics_paths(objects):
        plan.unused = [name for name in plan.unused if not _is_inside(name, path)]
    if strict is not False:
        for path in unbuilt_paths(objects):
            if any(_is_inside(name, path) for name in plan.unused):
                raise ValueError(NOT_BUILT.format(path=path))


def _restore_values(value: Any, node: JSON, arrays: Mapping[str, Any], restored: frozenset[str], path: str) -> Any:
    """Restores states inside ``value`` and replaces values; returns what should replace it."""
    if path in restored:
        if not is_stateful(value):
            return _replace_value(value, from_node(node, arrays))
        value.set_state(node["state"] if "state" in node else node["states"][processes().index])
        return value
    inside = children(value)
    if inside is None:
        return value
    nodes = inner_nodes(node) or {}
    new = {
        name: _restore_values(item, nodes.get(name), arrays, restored, join_path(path, name))
        for name, item in inside.items()
    }
    changed = {name: item for name, item in new.items() if item is not inside[name]}
    if not changed:
        return value
    if isinstance(value, tuple):
        return _tuple_like(value, new.values())
    target: Any = value._objects if isinstance(value, Group) else value
    for name, item in changed.items():
        target[int(name) if isinstance(target, list) else name] = item
    return value


def _replace_value(old: Any, new: Any) -> Any:
    """``new``, in the old container or array where possible: other code may have a reference to that."""
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
