"""The benchmark of `evaluate` and `predict`: cases, contenders, table."""

from __future__ import annotations

import _data
from _cases import HAND_WRITTEN, KERAS_JAX, TENSORFLOW, UNISONO, Case, Target, Workload
from _command import Benchmark
from _environments import Program, unisono_program
from _measure import Result, median_and_spread
from _table import Form, relative_to

_PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_inference"),
    HAND_WRITTEN: Program(module="contenders.hand_written_inference", environment="jax"),
    KERAS_JAX: Program(module="contenders.keras_inference", environment="jax", keras_backend="jax"),
    TENSORFLOW: Program(module="contenders.keras_inference", environment="tensorflow", keras_backend="tensorflow"),
}

# The networks, batches and rows of the cases of `fit` on one device.
_CASES = tuple(
    Case(
        name=f"{call}-{network}",
        workload=Workload(
            network=network,
            platform="cpu",
            replicas=1,
            global_batch_size=batch_size,
            steps=steps,
            epochs=3,
            call=call,
        ),
        contenders=tuple(_PROGRAMS),
        targets=(Target(KERAS_JAX, 1), Target(TENSORFLOW, 1)),
    )
    for call in ("evaluate", "predict")
    for network, batch_size, steps in (("mlp", 32, 600), ("cnn", 64, 100))
)


def _cells(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    seconds = median_and_spread(series.seconds_per_step)[0]
    return (
        f"{Workload(**result.workload).global_batch_size / seconds:,.0f}",
        f"{1e3 * seconds:.4g}",
        f"{1e3 * median_and_spread(series.cpu_seconds_per_step)[0]:.4g}",
        *relative_to(HAND_WRITTEN, result, name),
    )


def _caption(result: Result, rounds: int) -> str:
    work = Workload(**result.workload)
    return (
        f"{work.replicas} {work.platform}, batch {work.global_batch_size}, "
        f"{rounds} rounds of {work.epochs} calls of {work.steps} steps"
    )


_FORM = Form(
    header=("contender", "rows/s, median", "ms/step", "CPU ms/step", "time relative to hand-written", "quartiles"),
    cells=_cells,
    caption=_caption,
)

INFERENCE = Benchmark(
    title="`evaluate` and `predict`",
    cases=_CASES,
    programs=_PROGRAMS,
    form=_FORM,
    data=lambda _: _data.source(),
)
