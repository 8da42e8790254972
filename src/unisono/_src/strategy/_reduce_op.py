"""How values of replicas become one."""

from __future__ import annotations

import enum
from typing import Any


class ReduceOp(enum.Enum):
    """The sum or the mean over replicas."""

    SUM = "SUM"
    MEAN = "MEAN"

    @classmethod
    def of(cls, name: Any) -> ReduceOp:
        """A ReduceOp, or its name in any case."""
        if isinstance(name, cls):
            return name
        text = getattr(name, "name", name)
        if isinstance(text, str) and text.upper() in cls.__members__:
            return cls[text.upper()]
        raise ValueError(f"{name!r} is no way to reduce. Write unisono.ReduceOp.SUM or MEAN, or their names.")
