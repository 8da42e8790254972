"""One mistake of the table: what somebody types, and what the message has to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# In the scripts, above what is shown.
GIVEN = """\
import json
import os
import unisono
import keras
import numpy as np
"""

MODEL = """\
with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
    model = keras.Sequential([keras.layers.Dense(10)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = np.ones((8, 4), "float32"), np.arange(8)
dataset = unisono.data.Dataset.from_tensor_slices((x, y))
"""


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What is typed, what has to be in the message, and what to do."""

    title: str
    typed: str
    """A part of a script, or a command."""
    says: tuple[str, ...]
    """What the message has to say: what is wrong, and what to type."""
    do: str
    at: str | None = None
    """A part of the line that the message, or the traceback above it, has to name. None: the message has no line."""
    how: Literal["here", "process", "command"] = "here"
    """In the process of the tests, as a script of its own, or in a shell."""
    given: str = MODEL
    """What is above it in the script."""
    is_warning: bool = False
    """Whether training continues."""

    @property
    def script(self) -> str:
        return self.typed if self.how != "here" else GIVEN + self.given + self.typed

    @property
    def line(self) -> int | None:
        if self.at is None:
            return None
        return next(number for number, line in enumerate(self.script.splitlines(), 1) if self.at in line)
