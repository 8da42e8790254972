"""Datasets inside elements, as `window` makes them. This package knows a dataset only by its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unisono._src.data.plans._plan import Plan


def plan_of(value: Any) -> Plan | None:
    """The plan of a dataset; None for anything else."""
    plan: Plan | None = getattr(value, "_plan", None)
    return plan


def is_dataset(value: Any) -> bool:
    """Whether ``value`` has a plan."""
    return plan_of(value) is not None
