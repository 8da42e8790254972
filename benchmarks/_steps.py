"""A round of a custom training loop: one step for each batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

import _data
from _cases import Workload
from _protocol import Train, serve
from _reference import Adam, first_steps

# Few: later, one rounding error can make correct programs diverge.
CHECKED_STEPS = 20
# Of a loss. On a GPU products are rounded to TF32, by all contenders alike.
_TOLERANCE = {"cpu": 5e-4, "gpu": 5e-3}
# Correct predictions of the checked steps that rounding may change.
_PREDICTIONS = {"cpu": 2, "gpu": 10}


class Loop(NamedTuple):
    """A training loop that has not started.

    Attributes:
        step: trains on one batch, and returns its loss, which may not be computed yet.
        batches: those of one epoch, on the devices the step expects; iterated anew in every epoch.
        accuracy: of all steps so far.
        loss: converts the result of a step to a number.
        adam: its variant of Adam.
    """

    step: Callable[[Any], Any]
    batches: Iterable[Any]
    accuracy: Callable[[], Any]
    loss: Callable[[Any], float] = float
    adam: Adam = "keras"


def serve_steps(contender: Callable[[Workload], Loop]) -> None:
    """Runs a contender that is a training loop; the workload is the only argument of the process."""
    serve(lambda workload: rounds_of(workload, contender(workload)))


def rounds_of(workload: Workload, loop: Loop) -> Train:
    """Checks the first steps of the loop, and returns a function that trains one round."""
    losses = [loop.loss(loop.step(batch)) for batch in islice(loop.batches, CHECKED_STEPS)]
    check_first_steps(workload, losses, float(loop.accuracy()), loop.adam)

    def train() -> tuple[float, float]:
        for _ in range(workload.epochs):
            for batch in loop.batches:
                loss = loop.step(batch)
        return loop.loss(loss), float(loop.accuracy())

    return train


def check_first_steps(workload: Workload, losses: list[float], accuracy: float, adam: Adam = "keras") -> None:
    """Compares the first steps with the reference; a contender that differs fails."""
    expected, correct = first_steps(_data.load(workload), workload.global_batch_size, CHECKED_STEPS, adam)
    worst = max(abs(loss - value) for loss, value in zip(losses, expected, strict=True))
    if not worst <= _TOLERANCE[workload.platform]:
        raise ValueError(f"The first losses are {losses}, expected {expected}.")
    num_rows = CHECKED_STEPS * workload.global_batch_size
    if abs(accuracy * num_rows - correct) > _PREDICTIONS[workload.platform]:
        raise ValueError(f"The first accuracy is {accuracy}, expected {correct} of {num_rows} rows.")
