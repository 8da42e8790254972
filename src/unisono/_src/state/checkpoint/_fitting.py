"""Whether a stored array is one for a variable."""

from __future__ import annotations

from typing import Any

from unisono._src.keras_hooks import raw_value


def describe_mismatch(name: str, variable: Any, array: Any) -> str | None:
    """What is wrong with ``array`` as the value of the variable ``name``; None if it fits."""
    if tuple(array.shape) != tuple(variable.shape):
        shapes = f"{tuple(variable.shape)} here and {tuple(array.shape)} in the checkpoint"
        return f"the variable {name} has the shape {shapes}"
    here, there = raw_value(variable).dtype.name, array.dtype.name
    return None if here == there else f"the variable {name} is {here} here, {there} in the checkpoint"
