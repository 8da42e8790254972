"""What block functions can change, and what it was before they ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import keras

from unisono._src.tracing.control_flow._nests import UNDEFINED, Nest
from unisono._src.tracing.control_flow._reachable_names import ReachableNames
from unisono._src.tracing.control_flow._slots import (
    AttributeSlot,
    ContainerSlot,
    GlobalSlot,
    NameSlot,
    Slot,
    cell_value,
    holds_same,
)


class Changes(NamedTuple):
    """What a block changes, as far as its source shows.

    Attributes:
        names: the names that it binds.
        live: those of them whose value is used afterwards.
        outside: those of them that are global.
        shared: names that are bound by functions that it may call.
        dead: names of the function whose value is not used afterwards.
        attributes: what it sets, as ("self", "total").
        mutated: attributes whose lists or dicts it may change in place.
    """

    names: tuple[str, ...] = ()
    live: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    attributes: tuple[tuple[str, ...], ...] = ()
    mutated: tuple[tuple[str, ...], ...] = ()


class FunctionState:
    """All that some block functions can change, and its values when this object was created.

    Attributes:
        slots: what can change.
        before: the values.
    """

    def __init__(self, functions: tuple[Callable[..., Any], ...], changes: Changes) -> None:
        self._reachable = ReachableNames(functions)
        self.slots: list[Slot] = [GlobalSlot(name, self._reachable.names) for name in changes.outside]
        for name in changes.names:
            if name not in changes.outside:
                self.slots.append(NameSlot(name, name in changes.live, True, self._reachable.cells[name]))
        for name in changes.shared:
            if name not in changes.names:
                self.slots.append(NameSlot(name, True, False, self._reachable.cells[name]))
        for path in changes.attributes:
            holder = self._get_value(path[:-1])
            if path[0] not in changes.names and holder is not UNDEFINED:
                self.slots.append(AttributeSlot(".".join(path), holder, path[-1]))
        mutated = [(".".join(path), self._get_value(path)) for path in changes.mutated]
        containers = self._reachable.containers(mutated, changes.dead)
        opaque = frozenset(containers)
        self.slots += [ContainerSlot(name, live, container, opaque) for name, live, container in containers.values()]
        self.before = [slot.get() for slot in self.slots]

    def changed(self) -> list[bool]:
        """For each slot, whether its value differs from before."""
        return [not holds_same(slot.get(), value) for slot, value in zip(self.slots, self.before, strict=True)]

    def restore(self) -> None:
        """Sets all slots to the values from before; variables and layers that were made meanwhile stay."""
        self.before = [_with_created(value, slot.get()) for slot, value in zip(self.slots, self.before, strict=True)]
        for slot, value in zip(self.slots, self.before, strict=True):
            slot.set(value)

    def collect(self, arrays: list[Any]) -> list[Nest | None]:
        """The present values, flattened; None for slots that did not change. Arrays are added to ``arrays``."""
        return [
            Nest.flatten(slot.get(), arrays, slot.opaque) if changed else None
            for slot, changed in zip(self.slots, self.changed(), strict=True)
        ]

    def nest_before(self, index: int) -> Nest:
        """The value of this slot before, flattened."""
        return Nest.flatten(self.before[index], None, self.slots[index].opaque)

    def _get_value(self, path: tuple[str, ...]) -> Any:
        first, cell = path[0], self._reachable.cells.get(path[0])
        value = self._reachable.names.get(first, UNDEFINED) if cell is None else cell_value(cell)
        for attribute in path[1:]:
            value = getattr(value, attribute, UNDEFINED)
        return value


def _with_created(before: Any, after: Any) -> Any:
    """``before`` with what holds variables in ``after`` and was not there: it is made once, whichever branch runs."""
    if before is None or before is UNDEFINED:
        return after if _holds_variables(after) else before
    if type(before) is dict and type(after) is dict:
        created = {key: value for key, value in after.items() if key not in before and _holds_variables(value)}
        return before | created if created else before
    if type(before) is list and type(after) is list and holds_same(before, after[: len(before)]):
        added = after[len(before) :]
        return after if added and all(map(_holds_variables, added)) else before
    return before


def _holds_variables(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_holds_variables, value))
    return isinstance(value, keras.Variable) or (not isinstance(value, type) and hasattr(value, "trainable_variables"))
