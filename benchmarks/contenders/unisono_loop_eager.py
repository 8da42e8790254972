"""The same step without a function. On one device also without a strategy: a tape, a model and arrays."""

from __future__ import annotations

import _data
import jax
from _cases import Workload
from _steps import Loop, serve_steps

import unisono
from contenders import unisono_loop
from contenders._keras_loop import step_of_one_replica


def contender(workload: Workload) -> Loop:
    if workload.replicas > 1:
        return unisono_loop.contender(workload, eager=True)
    step, accuracy = step_of_one_replica(unisono, workload)
    x, y = (array.reshape(workload.steps, -1, *array.shape[1:]) for array in _data.load(workload))
    batches = [jax.device_put(batch) for batch in zip(x, y, strict=True)]
    return Loop(step, batches, accuracy.result)


if __name__ == "__main__":
    serve_steps(contender)
