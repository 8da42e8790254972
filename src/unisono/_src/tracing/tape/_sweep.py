"""The way back: from targets to sources, by the steps of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from unisono._src.tracing.tape._record import Record, Step


def gradients(
    record: Record, targets: Sequence[Any], cotangents: Sequence[Any], sources: Sequence[Any], anew: bool
) -> list[Any]:
    """For each source the sum over the targets of cotangent times derivative; None where nothing leads to a target.

    Sources and targets are arrays or variables. ``anew`` does all steps again, see :meth:`Step.walked_back`.
    TensorFlow's gradient of a complex number is the conjugate of JAX's, and this is TensorFlow's.
    """
    strangers: dict[int, int] = {}  # a target that is its own source has a gradient even if no step knows it

    def number_of(value: Any) -> int:
        known = record.number_of(value)
        return strangers.setdefault(id(value), record.new_number()) if known is None else known

    wanted = [number_of(source) for source in sources]
    pending: dict[int, Any] = {}
    for target, cotangent in zip(targets, cotangents, strict=True):
        if jnp.issubdtype(target.dtype, jnp.inexact):
            _add(pending, number_of(target), _conjugate(cotangent))
    found = _pulled_back(list(record.steps), pending, set(wanted), anew)
    return [_conjugate(found[number]) if number in found else None for number in wanted]


def _pulled_back(steps: list[Step], pending: dict[int, Any], wanted: set[int], anew: bool) -> dict[int, Any]:
    needed = _downstream(steps, wanted)
    found = {}
    for step in reversed(steps):
        if needed.isdisjoint(step.results):
            continue
        arrived = [None if number is None else pending.pop(number, None) for number in step.results]
        if all(cotangent is None for cotangent in arrived):
            continue
        for number, cotangent in zip(step.results, arrived, strict=True):
            if number in wanted and cotangent is not None:
                found[number] = cotangent  # complete: everything that uses the value was recorded after this step
        for number, cotangent in zip(step.inputs, step.walked_back(arrived, anew), strict=True):
            _add(pending, number, cotangent)
    return found | {number: pending[number] for number in wanted if number in pending}


def _downstream(steps: list[Step], wanted: set[int]) -> set[int | None]:
    """The numbers of all values that depend on the ``wanted``: other steps need not be walked back."""
    needed: set[int | None] = set(wanted)
    for step in steps:
        if not needed.isdisjoint(step.inputs):
            needed.update(number for number in step.results if number is not None)
    return needed


def _add(pending: dict[int, Any], number: int, cotangent: Any) -> None:
    pending[number] = pending[number] + cotangent if number in pending else cotangent


def _conjugate(cotangent: Any) -> Any:
    return jnp.conj(cotangent) if jnp.issubdtype(cotangent.dtype, jnp.complexfloating) else cotangent
