"""Errors about control flow, with the file and the line of the user's code."""

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

_MAX_CODE_LENGTH: Final = 80


class ControlFlowError(TypeError):
    """An `if`, a loop or an expression on values of a compiled function that cannot be compiled as it is written."""


@dataclass(frozen=True)
class SourceLocation:
    """A line of a user's source."""

    file: str
    line: int

    def __str__(self) -> str:
        code = linecache.getline(self.file, self.line).strip()
        code = code if len(code) <= _MAX_CODE_LENGTH else code[: _MAX_CODE_LENGTH - 1] + "…"
        where = f"line {self.line} of {PurePath(self.file).name}"
        return f"{where}: `{code}`" if code else where

    def error(self, text: str) -> ControlFlowError:
        """An error with this text about the code here."""
        return make_error(text, f"{self}\n")


def make_error(text: str, where: str = "") -> ControlFlowError:
    """The error. Without `unisono.tf` imported, it adds where else to find the functions that its text names."""
    needs_hint = "tf." in text and "unisono.tf" not in sys.modules
    return ControlFlowError(where + (f"{text}\n{WITHOUT_TF}" if needs_hint else text))
