"""What pieces of a function can reach by name, and so may change: names, and lists and dicts behind names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from unisono._src.tracing.control_flow._slots import content


class Reach:
    """What some pieces of one function can reach.

    Attributes:
        cells: the names of the function.
        names: the names of its module.
        values: all values behind names, those of functions that the pieces refer to as well.
    """

    def __init__(self, pieces: Iterable[Callable[..., Any]]) -> None:
        self.cells: dict[str, CellType] = {}
        self.names: dict[str, Any] = {}
        self.values: list[tuple[str, Any]] = []
        seen: set[int] = set()
        for piece in pieces:
            self._add(piece, seen, is_piece=True)

    def containers(self, others: Iterable[tuple[str, Any]], dead: Iterable[str]) -> dict[int, tuple[str, bool, Any]]:
        """The lists and dicts behind names and behind ``others``: by identity a name for it, whether it is reached by a
        name that is not ``dead``, and itself."""
        found: dict[int, tuple[str, bool, Any]] = {}
        for name, value in (*self.values, *others):
            there: dict[int, tuple[str, Any]] = {}
            _find(name, value, there)
            for key, (inner, container) in there.items():
                known = found.get(key, (inner, False, container))
                found[key] = (known[0], known[1] or name not in dead, container)
        return found

    def _add(self, function: Any, seen: set[int], is_piece: bool) -> None:
        if id(function) in seen:
            return
        seen.add(id(function))
        if is_piece:
            self.names = function.__globals__
        self.values += [
            (name, function.__globals__[name]) for name in _names_in(function.__code__) if name in function.__globals__
        ]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            value = content(cell)
            self.values.append((name, value))
            if is_piece:
                self.cells.setdefault(name, cell)
            if isinstance(value, FunctionType):
                self._add(value, seen, is_piece and name.startswith("ag__"))


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _find(name: str, value: Any, found: dict[int, tuple[str, Any]]) -> None:
    if isinstance(value, list | dict) and id(value) not in found:
        found[id(value)] = (name, value)
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
    elif isinstance(value, tuple):
        pairs = enumerate(value)
    else:
        return
    for key, part in list(pairs):
        if isinstance(part, list | dict | tuple):
            _find(f"{name}[{key!r}]", part, found)
