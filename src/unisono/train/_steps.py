"""The pure step: ``(carry, batch) -> (carry, result)``, made of the model's own `train_step` and its kin.

The carry is the state, and for training a *watch*: how many steps have run, and at which the loss was first
not a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from unisono.runtime import Placement

Kind = Literal["train", "test", "predict"]
Step = Callable[[Any, Any], tuple[Any, Any]]


def new_watch() -> np.ndarray[Any, Any]:
    """(steps run, first step with a bad loss or -1)."""
    return np.array([0, -1], "int32")


def make_step(model: Any, kind: Kind, placement: Placement, *, compiled: bool) -> Step:
    """The step of this kind. The result is logs, or outputs for "predict"."""

    def cut(batch: Any) -> Any:
        # Op by op, JAX refuses to cut rows that do not divide; they are then computed on every device.
        return placement.constrain(batch) if compiled else batch

    def train(carry: Any, batch: Any) -> tuple[Any, Any]:
        state, watch = carry
        logs, state = model.train_step(state, cut(batch))
        return (state, _watched(watch, logs)), logs

    def test(state: Any, batch: Any) -> tuple[Any, Any]:
        logs, state = model.test_step(state, cut(batch))
        return state, logs

    def predict(state: Any, batch: Any) -> tuple[Any, Any]:
        outputs, non_trainable = model.predict_step(state, cut(batch))
        return (state[0], non_trainable), outputs

    return {"train": train, "test": test, "predict": predict}[kind]


def _watched(watch: Any, logs: Any) -> Any:
    steps, first_bad = watch[0], watch[1]
    loss = logs.get("loss") if isinstance(logs, dict) else None
    if loss is not None:
        first_bad = jnp.where((first_bad < 0) & ~jnp.all(jnp.isfinite(loss)), steps, first_bad)
    return jnp.stack([steps + 1, first_bad])
