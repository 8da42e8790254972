"""How far the rest after a jump goes."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from unisono._src.tracing.control_flow._liveness import Names

Block = list[ast.stmt]


@dataclass(frozen=True)
class Rest:
    """What follows, up to the end of the region: the name of the piece, and the statements in it."""

    name: str
    statements: Block


@dataclass(frozen=True)
class Region:
    """What a jump's rest ends with: the function, the body of a loop, or a block that rest cannot leave (`with`).

    Attributes:
        end: the signal for its end, or none for the function, which returns None there.
        wanted: the names that are wanted there.
        in_loop: whether `break` and `continue` may lead out of it.
    """

    end: str | None
    wanted: Names
    in_loop: bool
