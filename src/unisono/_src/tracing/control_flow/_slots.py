"""Places that hold values of a user's function: its names, attributes of objects, what is in lists and dicts."""

from __future__ import annotations

from types import CellType
from typing import Any, Protocol

from unisono._src.tracing.control_flow._nests import UNDEFINED


class Slot(Protocol):
    """A place that holds a value.

    Attributes:
        name: how the user writes it.
        live: whether its value is wanted afterwards.
        is_bound: whether the source says that it gets a value. The others may change as well.
        opaque: the objects in its value that are no part of it.
    """

    name: str
    live: bool
    is_bound: bool
    opaque: frozenset[int]

    def get(self) -> Any:
        """The value, or UNDEFINED."""

    def set(self, value: Any) -> None:
        """Puts a value there, or UNDEFINED."""


class Name:
    """A name of the function, which lives in a cell since pieces of the function share it."""

    opaque: frozenset[int] = frozenset()

    def __init__(self, name: str, live: bool, is_bound: bool, cell: CellType) -> None:
        self.name, self.live, self.is_bound, self._cell = name, live, is_bound, cell

    def get(self) -> Any:
        return content(self._cell)

    def set(self, value: Any) -> None:
        if value is not UNDEFINED:
            self._cell.cell_contents = value
        elif self.get() is not UNDEFINED:
            del self._cell.cell_contents


class Global:
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


class Attribute:
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


class Container:
    """What is in a list or a dict. Its value is a copy of it."""

    is_bound = False

    def __init__(self, name: str, live: bool, container: Any, opaque: frozenset[int]) -> None:
        self.name, self.live, self.opaque, self._container = name, live, opaque, container

    def get(self) -> Any:
        return dict(self._container) if isinstance(self._container, dict) else list(self._container)

    def set(self, value: Any) -> None:
        if not is_same(self.get(), value):
            self._container.clear()
            self._container.update(value) if isinstance(self._container, dict) else self._container.extend(value)


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are one object; of copies of lists and dicts, whether the same objects are in them."""
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


def content(cell: CellType) -> Any:
    """What is in a cell, or UNDEFINED."""
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return UNDEFINED
