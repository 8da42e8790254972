"""Errors about control flow, in the words of the code that was written: its file, its line, its names."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

_LONGEST: Final = 80


class ControlFlowError(TypeError):
    """An `if`, a loop or an expression on values of a compiled function that cannot be compiled as it is written."""


@dataclass(frozen=True)
class Place:
    """A line of somebody's source."""

    file: str
    line: int

    def __str__(self) -> str:
        code = linecache.getline(self.file, self.line).strip()
        code = code if len(code) <= _LONGEST else code[: _LONGEST - 1] + "…"
        where = f"line {self.line} of {PurePath(self.file).name}"
        return f"{where}: `{code}`" if code else where

    def error(self, text: str) -> ControlFlowError:
        """The error with this text about the code here."""
        return ControlFlowError(f"{self}\n{text}")
