"""What a piece of a function can change, and what it was before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from unisono._src.tracing.control_flow._nests import UNDEFINED, Nest
from unisono._src.tracing.control_flow._reach import Reach
from unisono._src.tracing.control_flow._slots import Attribute, Container, Global, Name, Slot, content, is_same


class Changes(NamedTuple):
    """What a piece changes, as far as its source says.

    Attributes:
        names: the names that it binds.
        live: those of them whose value is wanted afterwards.
        outside: those of them that are names of the module.
        shared: names that functions which it may call bind.
        dead: names of the function whose value nobody wants afterwards.
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


class State:
    """All that some pieces of a function can change, and what it was when this was made.

    Attributes:
        slots: where it lives.
        before: what was there.
    """

    def __init__(self, pieces: tuple[Callable[..., Any], ...], changes: Changes) -> None:
        self._reach = Reach(pieces)
        self.slots: list[Slot] = [Global(name, self._reach.names) for name in changes.outside]
        for name in changes.names:
            if name not in changes.outside:
                self.slots.append(Name(name, name in changes.live, True, self._reach.cells[name]))
        for name in changes.shared:
            if name not in changes.names:
                self.slots.append(Name(name, True, False, self._reach.cells[name]))
        for path in changes.attributes:
            holder = self._value_at(path[:-1])
            if path[0] not in changes.names and holder is not UNDEFINED:
                self.slots.append(Attribute(".".join(path), holder, path[-1]))
        mutated = [(".".join(path), self._value_at(path)) for path in changes.mutated]
        containers = self._reach.containers(mutated, changes.dead)
        opaque = frozenset(containers)
        self.slots += [Container(name, live, container, opaque) for name, live, container in containers.values()]
        self.before = [slot.get() for slot in self.slots]

    def changed(self) -> list[bool]:
        """For each slot, whether it holds something else than before."""
        return [not is_same(slot.get(), value) for slot, value in zip(self.slots, self.before, strict=True)]

    def restore(self) -> None:
        """Puts back what was there before."""
        for slot, value in zip(self.slots, self.before, strict=True):
            slot.set(value)

    def taken(self, arrays: list[Any]) -> list[Nest | None]:
        """The present values taken apart; None for those that are as before. Arrays are added to ``arrays``."""
        return [
            Nest.of(slot.get(), arrays, slot.opaque) if changed else None
            for slot, changed in zip(self.slots, self.changed(), strict=True)
        ]

    def nest_before(self, index: int) -> Nest:
        """What the slot with this index held before, taken apart."""
        return Nest.of(self.before[index], None, self.slots[index].opaque)

    def _value_at(self, path: tuple[str, ...]) -> Any:
        first, cell = path[0], self._reach.cells.get(path[0])
        value = self._reach.names.get(first, UNDEFINED) if cell is None else content(cell)
        for attribute in path[1:]:
            value = getattr(value, attribute, UNDEFINED)
        return value
