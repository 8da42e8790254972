"""The pure step, ``(carry, batch) -> (carry, result)``, of the model's `train_step`, `test_step` or `predict_step`.

The carry is the state, and for training a *nan guard*, one integer: n >= 0 says that n steps have run with a finite
loss, -1 - n that step n, counted from 0, was the first whose loss was not. One integer, because on a GPU every value
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
    """The nan guard before the first step."""
    return np.array(0, "int32")


def first_bad_step(nan_guard: Any, loss: Any) -> int | None:
    """The first step, from 0, whose loss was nan or infinite. ``loss`` is the one in the logs of the last step."""
    if nan_guard < 0:
        return -1 - int(nan_guard)
    return int(nan_guard) - 1 if not np.all(np.isfinite(loss)) else None


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

    With a ``view`` the loss is checked where the metrics keep it, and the logs need not be computed for it. Each step
    then checks the sum that the step before it left, which is there from the beginning.
    """

    strategy = get_owner(model)
    assert strategy is not None, "only models of a strategy are trained here"

    def as_one_replica() -> contextlib.AbstractContextManager[None]:
        # In the global view one replica sees all rows, and that is what code that asks for the replicas gets.
        return context.run_as(Replica(strategy, axis=None))

    def shard(batch: Any) -> Any:
        # Op by op, JAX refuses to shard rows that do not divide; they are then computed on every device.
        return placement.constrain_rows(batch) if compiled else batch

    run = getattr(model, f"{kind}_step")
    if has_tf_style_step(model, kind):
        run = pure_step(model, kind, variables.groups)

    def train(carry: Any, batch: Any) -> tuple[Any, Any]:
        state, nan_guard = carry
        if view:
            nan_guard = _update_nan_guard(nan_guard, view.loss_total(state[-1]), bad=-nan_guard)
        with as_one_replica():
            logs, state = run(state, shard(batch))
        if not view:
            nan_guard = _update_nan_guard(
                nan_guard, logs.get("loss") if isinstance(logs, dict) else None, bad=-1 - nan_guard
            )
        return (state, nan_guard), logs

    def test(state: Any, batch: Any) -> tuple[Any, Any]:
        with as_one_replica():
            logs, state = run(state, shard(batch))
        return state, logs

    def predict(state: Any, batch: Any) -> tuple[Any, Any]:
        with as_one_replica():
            outputs, rest = run(state, shard(batch))
        # Keras's own step returns the non-trainable variables alone.
        return rest if has_tf_style_step(model, kind) else (state[0], rest), outputs

    return {"train": train, "test": test, "predict": predict}[kind]


def _update_nan_guard(nan_guard: Any, loss: Any, *, bad: Any) -> Any:
    is_finite = True if loss is None else jnp.all(jnp.isfinite(loss))
    return jnp.where(nan_guard < 0, nan_guard, jnp.where(is_finite, nan_guard + 1, bad))
