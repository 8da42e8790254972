"""Slots: what holds the values of a user's function. Its names, attributes of objects, contents of lists and dicts."""

from __future__ import annotations

from types import CellType
from typing import Any, Protocol

from unisono._src.tracing.control_flow._nests import UNDEFINED


class Slot(Protocol):
    """Something that holds a value.

    Attributes:
        name: how the user writes it.
        live: whether its value is used afterwards.
        is_bound: whether the source binds it. Slots that the source does not bind may change as well.
        opaque: the ids of objects in its value that have a slot themselves.
    """

    name: str
    live: bool
    is_bound: bool
    opaque: frozenset[int]

    def get(self) -> Any:
        """The value, or UNDEFINED."""

    def set(self, value: Any) -> None:
        """Sets the value, or UNDEFINED."""


class NameSlot:
    """A name of the function, in a cell because block functions share it."""

    opaque: frozenset[int] = frozenset()

    def __init__(self, name: str, live: bool, is_bound: bool, cell: CellType) -> None:
        self.name, self.live, self.is_bound, self._cell = name, live, is_bound, cell

    def get(self) -> Any:
        return cell_value(self._cell)

    def set(self, value: Any) -> None:
        if value is not UNDEFINED:
            self._cell.cell_contents = value
        elif self.get() is not UNDEFINED:
            del self._cell.cell_contents


class GlobalSlot:
    """A name of the module."""

    live, is_bound = True, True
    opaque: frozenset[int] = frozenset()

    def __init__(self, name: str, names: dict[str, Any]) -> None:
        self.name, self._names = name, names

    def get(self) -> Any:
        return self._names.get(self.name, UNDEFINED)

    def set(self, value: Any) -> None:
        if value is UNDEFINED:
            self._names.pop(self.name, None)
        else:
            self._names[self.name] = value


class AttributeSlot:
    """An attribute of an object."""

    live, is_bound = True, True
    opaque: frozenset[int] = frozenset()

    def __init__(self, name: str, holder: Any, attribute: str) -> None:
        self.name, self._holder, self._attribute = name, holder, attribute

    def get(self) -> Any:
        return getattr(self._holder, self._attribute, UNDEFINED)

    def set(self, value: Any) -> None:
        if self.get() is value:
            return
        if value is UNDEFINED:
            delattr(self._holder, self._attribute)
        else:
            setattr(self._holder, self._attribute, value)


class ContainerSlot:
    """The contents of a list or a dict. Its value is a copy of them."""

    is_bound = False

    def __init__(self, name: str, live: bool, container: Any, opaque: frozenset[int]) -> None:
        self.name, self.live, self.opaque, self._container = name, live, opaque, container

    def get(self) -> Any:
        return dict(self._container) if isinstance(self._container, dict) else list(self._container)

    def set(self, value: Any) -> None:
        if not holds_same(self.get(), value):
            self._container.clear()
            self._container.update(value) if isinstance(self._container, dict) else self._container.extend(value)


def holds_same(one: Any, other: Any) -> bool:
    """Whether two values are the same object, or lists or dicts that hold the same objects."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if type(one) is list:
        return len(one) == len(other) and all(map(_is, one, other))
    if type(one) is dict:
        return list(one) == list(other) and all(map(_is, one.values(), other.values()))
    return False


def _is(one: Any, other: Any) -> bool:
    return one is other


def cell_value(cell: CellType) -> Any:
    """The value of a cell, or UNDEFINED."""
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return UNDEFINED
