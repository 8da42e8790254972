"""Evaluation and prediction as an expert writes them in JAX without any framework.

One call for all rows, as in `hand_written`: except for convolutions on a CPU, which are slower in a loop, where every
step is a call. Rows to evaluate are the same each time and lie on the device before the first round. Rows to predict
are new each time and are sent, and the logits are copied to the host.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _data
import jax
import numpy as np
from _cases import Workload
from _inference_calls import Array, Calls, serve_calls
from _reference import initial_weights
from jax import lax

from contenders.hand_written import calls_are_better, make_loss, make_network, params_from


def contender(workload: Workload) -> Calls:
    params = params_from(initial_weights(workload.network))
    x, y = (array.reshape(workload.steps, -1, *array.shape[1:]) for array in _data.load(workload))
    on_device = jax.device_put((x, y))
    totals_of = _over_steps(workload, make_loss(workload))
    logits_of = _over_steps(workload, make_network(workload))

    def evaluate() -> tuple[float, float]:
        losses, correct = totals_of(params, *on_device)
        return float(np.mean(losses)), float(np.sum(correct)) / workload.num_rows

    def predict() -> Array:
        return np.asarray(logits_of(params, jax.device_put(x))).reshape(workload.num_rows, -1)

    return Calls(evaluate, predict)


def _over_steps(workload: Workload, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function for the rows of one step, applied to all steps; results are stacked."""

    def in_a_scan(params: Any, *batches: jax.Array) -> Any:
        return lax.scan(lambda _, batch: (None, function(params, *batch)), None, batches)[1]

    def one(params: Any, index: jax.Array, *batches: jax.Array) -> Any:
        return function(params, *(lax.dynamic_index_in_dim(batch, index, keepdims=False) for batch in batches))

    if not calls_are_better(workload):
        return jax.jit(in_a_scan)
    call = jax.jit(one)

    def in_calls(params: Any, *batches: jax.Array) -> Any:
        found = [call(params, np.int32(index), *batches) for index in range(workload.steps)]
        return jax.tree.map(lambda *parts: np.stack([np.asarray(part) for part in parts]), *found)

    return in_calls


if __name__ == "__main__":
    serve_calls(contender)
