"""What block functions can reach by name, and so may change: names, and the lists and dicts that names refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from unisono._src.tracing.control_flow._slots import cell_value


class ReachableNames:
    """What some block functions of one function can reach.

    Attributes:
        cells: the names of the function.
        names: the names of its module.
        values: the values of all names, including those of functions that the block functions refer to.
    """

    def __init__(self, functions: Iterable[Callable[..., Any]]) -> None:
        self.cells: dict[str, CellType] = {}
        self.names: dict[str, Any] = {}
        self.values: list[tuple[str, Any]] = []
        seen: set[int] = set()
        for function in functions:
            self._add(function, seen, is_block=True)

    def containers(self, others: Iterable[tuple[str, Any]], dead: Iterable[str]) -> dict[int, tuple[str, bool, Any]]:
        """The lists and dicts among the values and ``others``, by id.

        Each with a name for it, and whether it is reached by a name that is not ``dead``.
        """
        found: dict[int, tuple[str, bool, Any]] = {}
        for name, value in (*self.values, *others):
            inner_containers: dict[int, tuple[str, Any]] = {}
            _find_containers(name, value, inner_containers)
            for key, (inner, container) in inner_containers.items():
                known = found.get(key, (inner, False, container))
                found[key] = (known[0], known[1] or name not in dead, container)
        return found

    def _add(self, function: Any, seen: set[int], is_block: bool) -> None:
        if id(function) in seen:
            return
        seen.add(id(function))
        if is_block:
            self.names = function.__globals__
        self.values += [
            (name, function.__globals__[name])
            for name in _names_in_code(function.__code__)
            if name in function.__globals__
        ]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            value = cell_value(cell)
            self.values.append((name, value))
            if is_block:
                self.cells.setdefault(name, cell)
            if isinstance(value, FunctionType):
                self._add(value, seen, is_block and name.startswith("ag__"))


def _names_in_code(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in_code(constant)


def _find_containers(name: str, value: Any, found: dict[int, tuple[str, Any]]) -> None:
    if isinstance(value, list | dict) and id(value) not in found:
        found[id(value)] = (name, value)
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
    elif isinstance(value, tuple):
        pairs = enumerate(value)
    else:
        return
    for key, part in list(pairs):
        if isinstance(part, list | dict | tuple):
            _find_containers(f"{name}[{key!r}]", part, found)
