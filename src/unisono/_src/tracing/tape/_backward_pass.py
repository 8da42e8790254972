"""The backward pass: from targets to sources, through the operations of a record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from unisono._src.tracing.tape._record import Record, RecordedOperation


def compute_gradients(
    record: Record, targets: Sequence[Any], cotangents: Sequence[Any], sources: Sequence[Any], recompute: bool
) -> list[Any]:
    """For each source the sum over the targets of cotangent times derivative; None where no target depends on it.

    Sources and targets are arrays or variables. ``recompute`` runs all operations again, see
    :meth:`RecordedOperation.pull_back_cotangents`. TensorFlow's gradient of a complex number is the conjugate of JAX's,
    and this is TensorFlow's.
    """
    untracked: dict[int, int] = {}  # a target that is its own source has a gradient even if no operation used it

    def get_number(value: Any) -> int:
        known = record.get_number(value)
        return untracked.setdefault(id(value), record.new_number()) if known is None else known

    requested = [get_number(source) for source in sources]
    pending: dict[int, Any] = {}
    for target, cotangent in zip(targets, cotangents, strict=True):
        if jnp.issubdtype(target.dtype, jnp.inexact):
            _add_cotangent(pending, get_number(target), _conjugate(cotangent))
    found = _run_backward(list(record.operations), pending, set(requested), recompute)
    return [_conjugate(found[number]) if number in found else None for number in requested]


def _run_backward(
    operations: list[RecordedOperation], pending: dict[int, Any], requested: set[int], recompute: bool
) -> dict[int, Any]:
    needed = _find_dependents(operations, requested)
    found = {}
    for operation in reversed(operations):
        if needed.isdisjoint(operation.results):
            continue
        arrived = [None if number is None else pending.pop(number, None) for number in operation.results]
        if all(cotangent is None for cotangent in arrived):
            continue
        for number, cotangent in zip(operation.results, arrived, strict=True):
            if number in requested and cotangent is not None:
                found[number] = cotangent  # complete: everything that uses the value was recorded after this operation
        for number, cotangent in zip(operation.inputs, operation.pull_back_cotangents(arrived, recompute), strict=True):
            _add_cotangent(pending, number, cotangent)
    return found | {number: pending[number] for number in requested if number in pending}


def _find_dependents(operations: list[RecordedOperation], requested: set[int]) -> set[int | None]:
    """The numbers of all values that depend on the ``requested``: the backward pass skips all other operations."""
    needed: set[int | None] = set(requested)
    for operation in operations:
        if not needed.isdisjoint(operation.inputs):
            needed.update(number for number in operation.results if number is not None)
    return needed


def _add_cotangent(pending: dict[int, Any], number: int, cotangent: Any) -> None:
    pending[number] = pending[number] + cotangent if number in pending else cotangent


def _conjugate(cotangent: Any) -> Any:
    return jnp.conj(cotangent) if jnp.issubdtype(cotangent.dtype, jnp.complexfloating) else cotangent
