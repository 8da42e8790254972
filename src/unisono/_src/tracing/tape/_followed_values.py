"""What a tape or an accumulator knows of arrays and variables: a number, or a tangent.

A value is identified by `id`, not by a wrapper around it. When an array is garbage collected its entry is removed.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any, Generic, TypeVar

_T = TypeVar("_T")


class FollowedValues(Generic[_T]):
    """Arrays and variables, by identity, with a mark for each.

    All values of a variable have one mark, that of the variable.
    """

    def __init__(self) -> None:
        self._arrays: dict[int, tuple[weakref.ref[Any], _T]] = {}
        self._variables: dict[int, tuple[Any, _T]] = {}

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables, in the order in which they were added."""
        return tuple(variable for variable, _ in self._variables.values())

    def __contains__(self, array: Any) -> bool:
        return id(array) in self._arrays

    def __getitem__(self, array: Any) -> _T:
        return self._arrays[id(array)][1]

    def find(self, value: Any) -> _T | None:
        """The mark of an array or of a variable, if it has one."""
        found = self._variables.get(id(value)) or self._arrays.get(id(value))
        return None if found is None else found[1]

    def has_variable(self, variable: Any) -> bool:
        """Whether ``variable`` was added."""
        return id(variable) in self._variables

    def add(self, array: Any, mark: _T) -> None:
        """Gives ``array`` a mark."""
        key = id(array)
        # Called as pop(key, reference) when the array dies; the reference is only what pop returns for a missing key.
        self._arrays[key] = (weakref.ref(array, functools.partial(self._arrays.pop, key)), mark)

    def add_variable(self, variable: Any, mark: _T) -> None:
        """Gives ``variable`` a mark, which its values get when they are read."""
        self._variables[id(variable)] = (variable, mark)

    def is_of_another(self, variable: Any, array: Any) -> bool:
        """Whether ``array``, which reading ``variable`` gave, has a mark that is not the variable's."""
        found, known = self._arrays.get(id(array)), self._variables.get(id(variable))
        return found is not None and (known is None or found[1] is not known[1])

    def add_read(self, variable: Any, array: Any) -> None:
        """Gives ``array``, which reading ``variable`` gave, the mark of the variable, unless it has one."""
        known = self._variables.get(id(variable))
        if known is not None and array not in self:
            self.add(array, known[1])
