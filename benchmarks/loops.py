"""What does a step of a training loop of one's own cost? Unisono and others train in turns on batches made before.

```
loops.py                    all cases
loops.py 2 --rounds 5       two replicas only, shorter
loops.py --markdown         the table for the README, of what was measured last
```
"""

from __future__ import annotations

import sys

import _data
from _cases import HAND_WRITTEN, TENSORFLOW, UNISONO, Workload
from _command import new_parser, parsed, run
from _environments import Environments, Program, of_unisono
from _loops import CASES, EAGER
from _measure import Result, median_and_spread
from _table import Form, relative_to_unisono

PROGRAMS = {
    UNISONO: of_unisono("contenders.unisono_loop"),
    EAGER: of_unisono("contenders.unisono_loop_eager"),
    HAND_WRITTEN: Program(module="contenders.hand_written_loop", environment="jax"),
    TENSORFLOW: Program(module="contenders.tf_loop", environment="tensorflow", keras_backend="tensorflow"),
}


def main() -> int:
    """Returns the exit code."""
    arguments = parsed(new_parser(__doc__, CASES), CASES)
    chosen = [case for case in CASES if not arguments.cases or case.name in arguments.cases]
    environments = Environments(programs=PROGRAMS)
    return run(chosen, arguments, environments=environments, form=FORM, data=lambda _: _data.source(), prefix="loops-")


def _cells(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    median, low, high = median_and_spread([1e6 * seconds for seconds in series.seconds_per_step])
    return (
        f"{median:,.0f}",
        f"{low:,.0f} to {high:,.0f}",
        f"{1e6 * median_and_spread(series.cpu_seconds_per_step)[0]:,.0f}",
        *relative_to_unisono(result, name),
    )


def _caption(result: Result, rounds: int) -> str:
    work = Workload(**result.workload)
    return (
        f"{work.replicas} {work.platform}, global batch {work.global_batch_size}, "
        f"{rounds} rounds of {work.steps_per_round} steps"
    )


FORM = Form(
    header=("contender", "µs/step, median", "quartiles", "CPU µs/step", "time relative to Unisono", "quartiles"),
    cells=_cells,
    caption=_caption,
)

if __name__ == "__main__":
    sys.exit(main())
