"""The pure step: ``(carry, batch) -> (carry, result)``, made of the model's own `train_step` and its kin.

The carry is the state, and for training a *watch* over the loss: n >= 0 says that n steps have run and all was well,
-1 - n that step n, counted from 0, was the first whose loss was not a number. One integer, because on a GPU every value
that a step carries beyond the model's own may cost a kernel.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Literal

import jax.numpy as jnp
import numpy as np

from unisono._src.devices import Placement
from unisono._src.keras_hooks import MetricsView, get_owner
from unisono._src.replicas import context
from unisono._src.replicas.context import Replica
from unisono._src.training._custom_steps import has_tf_style_step, pure_step
from unisono._src.training._step_variables import StepVariables

Kind = Literal["train", "test", "predict"]
Step = Callable[[Any, Any], tuple[Any, Any]]


def new_nan_guard() -> np.ndarray[Any, Any]:
    """The watch before the first step."""
    return np.array(0, "int32")


def first_bad_step(watch: Any, loss: Any) -> int | None:
    """The first step whose loss was not a number, counted from 0. ``loss`` is the one in the logs of the last step."""
    if watch < 0:
        return -1 - int(watch)
    return int(watch) - 1 if not np.all(np.isfinite(loss)) else None


def make_step(
    model: Any,
    kind: Kind,
    placement: Placement,
    variables: StepVariables,
    *,
    compiled: bool,
    view: MetricsView | None = None,
) -> Step:
    """The step of this kind. The result is logs, or outputs for "predict".

    With a ``view`` the loss is watched where the metrics keep it, and the logs need not be computed to see it. Each
    step then looks at the sum that the step before it left, which is there from the beginning.
    """

    strategy = get_owner(model)
    assert strategy is not None, "only models of a strategy are trained here"

    def alone() -> contextlib.AbstractContextManager[None]:
        # In the global view one replica sees all rows. Code that asks for the replicas gets that answer.
        return context.run_as(Replica(strategy, axis=None))

    def cut(batch: Any) -> Any:
        # Op by op, JAX refuses to cut rows that do not divide; they are then computed on every device.
        return placement.constrain_rows(batch) if compiled else batch

    run = getattr(model, f"{kind}_step")
    if has_tf_style_step(model, kind):
        run = pure_step(model, kind, variables.groups)

    def train(carry: Any, batch: Any) -> tuple[Any, Any]:
        state, watch = carry
        if view:
            watch = _watched(watch, view.loss_total(state[-1]), bad=-watch)
        with alone():
            logs, state = run(state, cut(batch))
        if not view:
            watch = _watched(watch, logs.get("loss") if isinstance(logs, dict) else None, bad=-1 - watch)
        return (state, watch), logs

    def test(state: Any, batch: Any) -> tuple[Any, Any]:
        with alone():
            logs, state = run(state, cut(batch))
        return state, logs

    def predict(state: Any, batch: Any) -> tuple[Any, Any]:
        with alone():
            outputs, rest = run(state, cut(batch))
        # Keras's own step returns the non-trainable variables alone.
        return rest if has_tf_style_step(model, kind) else (state[0], rest), outputs

    return {"train": train, "test": test, "predict": predict}[kind]


def _watched(watch: Any, loss: Any, *, bad: Any) -> Any:
    well = True if loss is None else jnp.all(jnp.isfinite(loss))
    return jnp.where(watch < 0, watch, jnp.where(well, watch + 1, bad))
