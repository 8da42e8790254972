"""What a round is for a contender that is a loop of its own: one step for each batch. Batches are made before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import _data
from _cases import Workload
from _protocol import Train, serve
from _reference import first_steps

# Few: later, one rounding can lead right programs apart.
_CHECKED_STEPS = 20
_TOLERANCE = 5e-4  # of a loss; so two contenders are within 1e-3 of each other


class Loop(NamedTuple):
    """A training that has not begun.

    Attributes:
        step: trains on one batch, and returns its loss, which may still be being computed.
        batches: those of one epoch, where the step expects them.
        accuracy: of all steps so far.
    """

    step: Callable[[Any], Any]
    batches: list[Any]
    accuracy: Callable[[], Any]


def serve_steps(contender: Callable[[Workload], Loop]) -> None:
    """Runs a contender that is a loop; the workload is the process's one argument."""

    def build(workload: Workload) -> Train:
        loop = contender(workload)
        _check(workload, loop)

        def train() -> tuple[float, float]:
            for _ in range(workload.epochs):
                for batch in loop.batches:
                    loss = loop.step(batch)
            return float(loss), float(loop.accuracy())

        return train

    serve(build)


def _check(workload: Workload, loop: Loop) -> None:
    """That its first steps are those of all; a contender that fails here is out."""
    losses = [float(loop.step(batch)) for batch in loop.batches[:_CHECKED_STEPS]]
    accuracy = float(loop.accuracy())
    expected, correct = first_steps(_data.load(workload), workload.global_batch_size, _CHECKED_STEPS)
    worst = max(abs(loss - value) for loss, value in zip(losses, expected, strict=True))
    if not worst <= _TOLERANCE:
        raise ValueError(f"The first losses are {losses}, expected {expected}.")
    num_rows = _CHECKED_STEPS * workload.global_batch_size
    if abs(accuracy * num_rows - correct) > 2:  # two answers of a network may be a rounding apart
        raise ValueError(f"The first accuracy is {accuracy}, expected {correct} of {num_rows} rows.")
