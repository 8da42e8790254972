"""How a piece of a function says where Python goes on after it. None is: with what follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Jump:
    """A place to go on that is known."""

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
    """The loop ends if ``stops``, a traced bool, is true; else it goes on with its next turn."""

    stops: Any


Signal = Jump | Returned | MayBreak | None
