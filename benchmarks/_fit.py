"""The benchmark of `fit` with small networks: cases, targets, contenders, table."""

from __future__ import annotations

from typing import Literal

import _data
from _cases import (
    HAND_WRITTEN,
    KERAS_JAX,
    REPLICA_VIEW,
    TENSORFLOW,
    TORCH,
    UNISONO,
    Case,
    Target,
    Workload,
)
from _command import Benchmark
from _environments import Program, unisono_program
from _measure import Result, median_and_spread, trains_differently
from _scaling import scaling_table
from _table import Form, relative_to

_PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_fit"),
    HAND_WRITTEN: Program(module="contenders.hand_written", environment="jax"),
    REPLICA_VIEW: Program(module="contenders.hand_written_replica_view", environment="jax"),
    KERAS_JAX: Program(module="contenders.keras_fit", environment="jax", keras_backend="jax"),
    TENSORFLOW: Program(module="contenders.keras_fit", environment="tensorflow", keras_backend="tensorflow"),
    TORCH: Program(module="contenders.torch_graphs", environment=None),
}

_ON_CPU = (UNISONO, HAND_WRITTEN, KERAS_JAX, TENSORFLOW)
_ON_CPUS = (UNISONO, HAND_WRITTEN, REPLICA_VIEW, KERAS_JAX, TENSORFLOW)
_ON_GPU = (UNISONO, HAND_WRITTEN, KERAS_JAX, TORCH)

# Two runs of one program differ by up to 1.05 on a quiet machine.
_NO_SLOWER = 1.05


def _mlp(platform: Literal["cpu", "gpu"], replicas: int, *, steps: int, epochs: int) -> Workload:
    return Workload(
        network="mlp", platform=platform, replicas=replicas, global_batch_size=32, steps=steps, epochs=epochs
    )


def _cnn(platform: Literal["cpu", "gpu"], replicas: int, *, steps: int, epochs: int) -> Workload:
    return Workload(
        network="cnn", platform=platform, replicas=replicas, global_batch_size=64, steps=steps, epochs=epochs
    )


def _scaled(workload: Workload) -> Case:
    """Without targets: more devices than many machines have cores."""
    return Case(
        name=f"{workload.network}-{workload.replicas}",
        workload=workload,
        contenders=(UNISONO, HAND_WRITTEN),
        targets=(),
    )


_CASES = (
    Case(
        name="mlp-1",
        workload=_mlp("cpu", 1, steps=600, epochs=3),
        contenders=_ON_CPU,
        targets=(Target(HAND_WRITTEN, 1.15), Target(KERAS_JAX, 1 / 1.3), Target(TENSORFLOW, 1 / 3)),
    ),
    Case(
        name="cnn-1",
        workload=_cnn("cpu", 1, steps=100, epochs=3),
        contenders=_ON_CPU,
        targets=(Target(TENSORFLOW, 1),),
    ),
    Case(
        name="mlp-2",
        workload=_mlp("cpu", 2, steps=600, epochs=3),
        contenders=_ON_CPUS,
        targets=(Target(HAND_WRITTEN, _NO_SLOWER), Target(TENSORFLOW, 1)),
    ),
    Case(
        name="cnn-2",
        workload=_cnn("cpu", 2, steps=100, epochs=3),
        contenders=_ON_CPUS,
        targets=(Target(HAND_WRITTEN, _NO_SLOWER), Target(TENSORFLOW, 1)),
    ),
    *(_scaled(_mlp("cpu", devices, steps=200, epochs=3)) for devices in (4, 8)),
    *(_scaled(_cnn("cpu", devices, steps=50, epochs=3)) for devices in (4, 8)),
    # A step takes microseconds on a GPU, so sending MNIST there costs as much as part of an epoch: several epochs,
    # as a user would train.
    Case(
        name="mlp-gpu",
        workload=_mlp("gpu", 1, steps=1875, epochs=5),
        contenders=_ON_GPU,
        targets=(Target(HAND_WRITTEN, 1.03),),
    ),
    Case(
        name="cnn-gpu",
        workload=_cnn("gpu", 1, steps=937, epochs=5),
        contenders=_ON_GPU,
        targets=(Target(HAND_WRITTEN, 1.03),),
    ),
)


def _cells(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    milliseconds = [1e3 * seconds for seconds in series.seconds_per_step]
    losses = f"{series.losses[0]:.3f} to {series.losses[-1]:.3f}"
    return (
        f"{min(milliseconds):.4g}",
        f"{median_and_spread(milliseconds)[0]:.4g}",
        f"{1e3 * median_and_spread(series.cpu_seconds_per_step)[0]:.4g}",
        *relative_to(UNISONO, result, name),
        losses + (" (trains differently!)" if trains_differently(result, name) else ""),
    )


def _caption(result: Result, rounds: int) -> str:
    work = Workload(**result.workload)
    return (
        f"{work.replicas} {work.platform}, global batch {work.global_batch_size}, "
        f"{rounds} rounds of {work.epochs} x {work.steps} steps"
    )


_FORM = Form(
    header=(
        "contender",
        "ms/step, min",
        "median",
        "CPU ms/step",
        "time relative to Unisono",
        "quartiles",
        "loss, first to last",
    ),
    cells=_cells,
    caption=_caption,
    summary=scaling_table,
)

FIT = Benchmark(title="`fit`", cases=_CASES, programs=_PROGRAMS, form=_FORM, data=lambda _: _data.source())
