"""How fast is `fit`? Unisono and other libraries train, interleaved, and their times are compared round by round.

```
run.py                      all cases for the CPU
run.py mlp-1 --rounds 5     one case, shorter
run.py --gpu --path DIR     the cases for the GPU, with this interpreter and the packages unzipped in DIR
run.py --markdown           the table for the README from the last measurement
```
"""

from __future__ import annotations

import sys
from pathlib import Path

import _data
from _cases import CASES, HAND_WRITTEN, KERAS_JAX, REPLICA_VIEW, TENSORFLOW, TORCH, UNISONO, Workload
from _command import new_parser, parse, run
from _environments import Environments, Program, unisono_program
from _measure import Result, median_and_spread, trains_differently
from _table import Form, relative_to_unisono

PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_fit"),
    HAND_WRITTEN: Program(module="contenders.hand_written", environment="jax"),
    REPLICA_VIEW: Program(module="contenders.hand_written_replica_view", environment="jax"),
    KERAS_JAX: Program(module="contenders.keras_fit", environment="jax", keras_backend="jax"),
    TENSORFLOW: Program(module="contenders.keras_fit", environment="tensorflow", keras_backend="tensorflow"),
    TORCH: Program(module="contenders.torch_graphs", environment=None),
}


def main() -> int:
    """Returns the exit code."""
    parser = new_parser(__doc__, CASES)
    parser.add_argument("--gpu", action="store_true", help="the cases for the GPU, which imply --same-env")
    parser.add_argument("--same-env", action="store_true", help="all contenders use this interpreter")
    parser.add_argument(
        "--path", type=Path, action="append", default=[], help="a folder that all contenders can import from"
    )
    arguments = parse(parser, CASES)
    platforms = ("cpu", "gpu") if arguments.markdown else ("gpu",) if arguments.gpu else ("cpu",)
    chosen = [
        case
        for case in CASES
        if case.name in arguments.cases or (not arguments.cases and case.workload.platform in platforms)
    ]
    on_gpu = any(case.workload.platform == "gpu" for case in chosen)
    environments = Environments(
        programs=PROGRAMS,
        shared=arguments.same_env or on_gpu,
        paths=tuple(path.resolve() for path in arguments.path),
    )
    return run(chosen, arguments, environments=environments, form=FORM, data=lambda _: _data.source())


def _cells(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    milliseconds = [1e3 * seconds for seconds in series.seconds_per_step]
    losses = f"{series.losses[0]:.3f} to {series.losses[-1]:.3f}"
    return (
        f"{min(milliseconds):.4g}",
        f"{median_and_spread(milliseconds)[0]:.4g}",
        f"{1e3 * median_and_spread(series.cpu_seconds_per_step)[0]:.4g}",
        *relative_to_unisono(result, name),
        losses + (" (trains differently!)" if trains_differently(result, name) else ""),
    )


def _caption(result: Result, rounds: int) -> str:
    work = Workload(**result.workload)
    return (
        f"{work.replicas} {work.platform}, global batch {work.global_batch_size}, "
        f"{rounds} rounds of {work.epochs} x {work.steps} steps"
    )


FORM = Form(
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
)

if __name__ == "__main__":
    sys.exit(main())
