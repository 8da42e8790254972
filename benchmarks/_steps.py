"""What a round is for a contender that is a loop of its own: one step for each batch. Batches are made before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import _data
from _cases import Workload
from _protocol import Train, serve
from _reference import Adam, first_steps

# Few: later, one rounding can lead right programs apart.
CHECKED_STEPS = 20
_TOLERANCE = 5e-4  # of a loss; so two contenders are within 1e-3 of each other


class Loop(NamedTuple):
    """A training that has not begun.

    Attributes:
        step: trains on one batch, and returns its loss, which may still be being computed.
        batches: those of one epoch, where the step expects them.
        accuracy: of all steps so far.
        loss: what a step returned, as a number.
        adam: whose Adam it has.
    """

    step: Callable[[Any], Any]
    batches: list[Any]
    accuracy: Callable[[], Any]
    loss: Callable[[Any], float] = float
    adam: Adam = "keras"


def serve_steps(contender: Callable[[Workload], Loop]) -> None:
    """Runs a contender that is a loop; the workload is the process's one argument."""
    serve(lambda workload: rounds_of(workload, contender(workload)))


def rounds_of(workload: Workload, loop: Loop) -> Train:
    """Checks the loop's first steps, and returns what trains one round."""
    losses = [loop.loss(loop.step(batch)) for batch in loop.batches[:CHECKED_STEPS]]
    check_first_steps(workload, losses, float(loop.accuracy()), loop.adam)

    def train() -> tuple[float, float]:
        for _ in range(workload.epochs):
            for batch in loop.batches:
                loss = loop.step(batch)
        return loop.loss(loss), float(loop.accuracy())

    return train


def check_first_steps(workload: Workload, losses: list[float], accuracy: float, adam: Adam = "keras") -> None:
    """That they are those of all; a contender that fails here is out."""
    expected, correct = first_steps(_data.load(workload), workload.global_batch_size, CHECKED_STEPS, adam)
    worst = max(abs(loss - value) for loss, value in zip(losses, expected, strict=True))
    if not worst <= _TOLERANCE:
        raise ValueError(f"The first losses are {losses}, expected {expected}.")
    num_rows = CHECKED_STEPS * workload.global_batch_size
    if abs(accuracy * num_rows - correct) > 2:  # two answers of a network may be a rounding apart
        raise ValueError(f"The first accuracy is {accuracy}, expected {correct} of {num_rows} rows.")
