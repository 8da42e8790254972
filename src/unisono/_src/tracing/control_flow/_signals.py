"""Signals: what a block function returns to say where Python continues after it. None means with what follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Jump:
    """A jump that is known while tracing."""

    name: str


BREAK: Final = Jump("break")
CONTINUE: Final = Jump("continue")
END: Final = Jump("the end of the block")


@dataclass(frozen=True, eq=False)
class Returned:
    """The function returns ``value``."""

    value: Any


@dataclass(frozen=True, eq=False)
class MayBreak:
    """The loop ends if ``stops``, a traced bool, is true; else it continues with its next iteration."""

    stops: Any


Signal = Jump | Returned | MayBreak | None
