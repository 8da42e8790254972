"""`model.evaluate` and `model.predict` on NumPy arrays, for every contender that uses Keras."""

from __future__ import annotations

import contextlib
from functools import partial
from typing import Any

import _data
from _cases import Workload
from _inference_calls import Array, Calls, serve_calls
from _reference import initial_weights

from contenders._keras_model import compiled_model

Scope = contextlib.AbstractContextManager[Any]


def contender(scope: Scope, workload: Workload) -> Calls:
    """The calls of a model that is created inside ``scope``."""
    x, y = _data.load(workload)
    with scope:
        model = compiled_model(workload.network)
    model.set_weights(initial_weights(workload.network))
    batch_size = workload.global_batch_size

    def evaluate() -> tuple[float, float]:
        loss, accuracy = model.evaluate(x, y, batch_size=batch_size, verbose=0)
        return loss, accuracy

    def predict() -> Array:
        return model.predict(x, batch_size=batch_size, verbose=0)  # type: ignore[no-any-return]  # Keras has no types

    return Calls(evaluate, predict)


def serve_model(scope: Scope) -> None:
    """Runs a contender."""
    serve_calls(partial(contender, scope))
