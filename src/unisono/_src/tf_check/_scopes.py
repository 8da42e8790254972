"""What the names of a script refer to, as far as its source shows: for `_script_reader.py`."""

from __future__ import annotations

import dataclasses
from typing import Literal

Location = tuple[int, int]  # a line and a column


@dataclasses.dataclass(frozen=True)
class ResolvedName:
    """What an expression refers to: the object of that name, an instance of it, or a member of an instance."""

    name: str
    kind: Literal["object", "instance", "member", "script class", "script function"] = "object"
    certain: bool = True
    location: Location | None = None  # of the definition, if it is a function of the script


class Scope:
    """What names refer to in a function, a class or a module."""

    def __init__(
        self,
        parent: Scope | None = None,
        on_self: dict[str, ResolvedName | None] | None = None,
        function: Location | None = None,
    ) -> None:
        self.parent = parent
        self.function = function  # the function whose body this is
        self.names: dict[str, ResolvedName | None] = {}
        self.on_self: dict[str, ResolvedName | None] = {} if parent is None else parent.on_self
        if on_self is not None:
            self.on_self = on_self

    def look_up(self, name: str) -> ResolvedName | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None


class ScriptFunctions:
    """What is known of the script's functions, by location: what they return, and the classes of their arguments."""

    def __init__(self) -> None:
        self.results: dict[Location, ResolvedName] = {}
        self.argument_classes: dict[Location, list[str | None]] = {}
