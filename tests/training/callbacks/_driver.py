"""Calls the hooks of callbacks as `fit` does, a call for several steps included, without training."""

from collections.abc import Sequence
from typing import Any

STEPS = 8  # an epoch's


def begin(callback: Any, model: Any, epochs: int = 4) -> None:
    """What comes before the first epoch."""
    callback.set_params({"epochs": epochs, "steps": STEPS, "verbose": 0})
    callback.set_model(model)
    callback.on_train_begin()


def epoch(callback: Any, number: int, *, calls: Sequence[int] = (1,) * STEPS, first: int = 0, **logs: float) -> None:
    """One epoch whose calls have so many steps, from step ``first`` on; with ``val_`` logs there is a validation."""
    callback.on_epoch_begin(number)
    run_calls(callback, calls, first, logs)
    end_epoch(callback, number, **logs)


def run_calls(callback: Any, calls: Sequence[int], first: int, logs: dict[str, float]) -> None:
    """Calls of so many steps each."""
    train = {name: value for name, value in logs.items() if not name.startswith("val_")}
    for steps in calls:
        callback.on_train_batch_begin(first)
        first += steps
        callback.on_train_batch_end(first - 1, train)


def end_epoch(callback: Any, number: int, **logs: float) -> None:
    """Validation, if there is any, and the end of the epoch."""
    validation = {name[4:]: value for name, value in logs.items() if name.startswith("val_")}
    if validation:
        callback.on_test_begin()
        callback.on_test_end(validation)
    callback.on_epoch_end(number, dict(logs))
