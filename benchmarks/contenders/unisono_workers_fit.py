"""`model.fit` under a Unisono strategy in several processes."""

from __future__ import annotations

import _data
from _cases import Workload
from _protocol import Train
from _reference import initial_weights
from _steps import CHECKED_STEPS, check_first_steps
from _worker_processes import serve_workers

import unisono
from contenders._keras_model import compiled_model
from contenders.unisono_fit import rounds_of


def contender(workload: Workload) -> Train:
    with unisono.MultiWorkerMirroredStrategy().scope():
        model = compiled_model(workload.network)
    model.set_weights(initial_weights())
    x, y = (array.reshape(workload.steps, -1, *array.shape[1:]) for array in _data.load(workload))
    first = [
        model.fit(*batch, batch_size=workload.global_batch_size, shuffle=False, verbose=0).history
        for batch in zip(x[:CHECKED_STEPS], y[:CHECKED_STEPS], strict=True)
    ]
    losses, accuracies = ([history[name][0] for history in first] for name in ("loss", "accuracy"))
    check_first_steps(workload, losses, sum(accuracies) / CHECKED_STEPS)
    return rounds_of(workload, model)


if __name__ == "__main__":
    serve_workers(contender)
