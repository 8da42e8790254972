"""How fast are large models on one GPU? ResNet-50 and GPT-2 small are trained in bfloat16, interleaved.

```
large.py --path DIR           all cases, with this interpreter and the packages unzipped in DIR
large.py gpt2 --rounds 3      one case, shorter
large.py --stored-programs    keep compiled programs for the next case and the next run
large.py --markdown           the table for the README from the last measurement
```
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from _cases import KERAS_JAX, UNISONO
from _command import Benchmark, main
from _environments import Program, unisono_program
from _large_models import CASES, TORCH_COMPILE, TORCH_LOADER, LargeWork
from _measure import Result, median_and_spread, trains_differently
from _table import Form, relative_to

PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_large"),
    KERAS_JAX: Program(module="contenders.keras_large", environment="jax", keras_backend="jax"),
    TORCH_COMPILE: Program(module="contenders.torch_large", environment=None),
    TORCH_LOADER: Program(module="contenders.torch_large_loader", environment=None),
}


def _cells(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    seconds = median_and_spread(series.seconds_per_step)[0]
    losses = f"{series.losses[0]:.3f} to {series.losses[-1]:.3f}"
    # Labels are random, so that programs that do the same have close losses in all rounds, not only in the first.
    differs = trains_differently(result, name, number=-1, tolerance=0.05)
    return (
        f"{LargeWork(**result.workload).items_per_step / seconds:,.0f}",
        f"{1e3 * seconds:.4g}",
        *relative_to(UNISONO, result, name),
        f"{series.first_seconds:.1f}",
        f"{series.peak_bytes / 2**30:.1f}",
        losses + (" (trains differently!)" if differs else ""),
    )


def _caption(result: Result, rounds: int) -> str:
    work = LargeWork(**result.workload)
    return f"one {work.platform}, bfloat16, batch {work.rows}, {rounds} rounds of {work.epochs} x {work.steps} steps"


def _read_libraries(_: object) -> None:
    """Reads the shared libraries of JAX, PyTorch and CUDA, some gigabytes.

    All contenders share them, and the one that begins would read them from disk in its first round, as if it compiled
    for longer.
    """
    for library in Path(sysconfig.get_paths()["purelib"]).rglob("*.so*"):
        library.read_bytes()


FORM = Form(
    header=(
        "contender",
        "images or tokens/s",
        "ms/step",
        "time relative to Unisono",
        "quartiles",
        "first round, s",
        "peak memory, GiB",
        "loss, first to last",
    ),
    cells=_cells,
    caption=_caption,
)

BENCHMARK = Benchmark(
    cases=CASES,
    programs=PROGRAMS,
    form=FORM,
    data=lambda _: "random data",
    prefix="large-",
    prepare=_read_libraries,
)

if __name__ == "__main__":
    sys.exit(main(__doc__, BENCHMARK))
