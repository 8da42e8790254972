"""A round of `evaluate` or `predict`: a few calls on the same arrays, with the initial weights."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import _data
import numpy as np
from _cases import Workload
from _protocol import Round, serve_rounds
from _reference import mean_loss_and_accuracy, predict_logits

Array = np.ndarray[Any, Any]

_TOLERANCE = 1e-4  # of a logit or a loss; float32 is off by less than 1e-5


class Calls(NamedTuple):
    """A model that was made with the initial weights.

    Attributes:
        evaluate: returns (loss, accuracy) of all rows as Python numbers.
        predict: returns the logits of all rows as one NumPy array.
    """

    evaluate: Callable[[], tuple[float, float]]
    predict: Callable[[], Array]


def serve_calls(contender: Callable[[Workload], Calls]) -> None:
    """Runs a contender that evaluates or predicts; the workload is the only argument of the process."""

    def build() -> Round:
        workload = Workload.from_json(sys.argv[1])
        call = getattr(contender(workload), workload.call)
        check(workload, call())

        def one_round() -> dict[str, float]:
            for _ in range(workload.epochs):
                call()
            return {}

        return one_round

    serve_rounds(build)


def check(workload: Workload, found: Any) -> None:
    """Compares what a call returned with a computation in float64; a contender that differs fails."""
    x, y = _data.load(workload)
    expected = predict_logits(workload.network, x)
    if workload.call == "predict":
        if not isinstance(found, np.ndarray) or found.shape != expected.shape:
            raise ValueError(f"The predictions are {type(found).__name__} {np.shape(found)}, not {expected.shape}.")
        difference = abs(found - expected).max()
    else:
        loss, accuracy = mean_loss_and_accuracy(expected, y)
        difference = abs(found[0] - loss)
        if abs(found[1] - accuracy) * len(y) > 2.5:  # two predictions may differ by rounding
            raise ValueError(f"The accuracy is {found[1]}, expected {accuracy}.")
    if not difference <= _TOLERANCE:
        raise ValueError(f"{workload.call} differs from the reference by {difference}.")
