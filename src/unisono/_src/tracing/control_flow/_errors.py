"""Errors about control flow, in the words of the code that was written: its file, its line, its names."""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

RESULT_AFTER_LOOP: Final = """\
    result = ...
    for ...:
        if condition:
            result = x
            break
    return result"""

WITHOUT_TF: Final = """Where `tf` is not imported, keras.ops and jax.numpy have such functions as well: keras.ops.cast,
keras.ops.where, jax.numpy.zeros, jax.numpy.arange for tf.range, keras.ops.map for tf.map_fn."""

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
        return refused(text, f"{self}\n")


def refused(text: str, where: str = "") -> ControlFlowError:
    """The error. Those who convert functions without `unisono.tf` are told where they find what its text names."""
    unknown = "tf." in text and "unisono.tf" not in sys.modules
    return ControlFlowError(where + (f"{text}\n{WITHOUT_TF}" if unknown else text))
