"""How fast are input pipelines? Unisono and other libraries read the same data, interleaved, without training.

```
data.py                     all cases
data.py jpeg --rounds 5     one case, shorter
data.py --markdown          the table for the README from the last measurement
```
"""

from __future__ import annotations

import sys

import _data
from _cases import UNISONO, Case
from _command import Benchmark, main
from _environments import Program, unisono_program
from _make_files import make_jpegs, make_records
from _measure import Result, median_and_spread
from _pipelines import CASES, GRAIN, TF_DATA, TF_DATA_BATCHED, TORCH, UNISONO_BATCHED, Pipeline
from _table import Form, relative_to

PROGRAMS = {
    UNISONO: unisono_program("contenders.unisono_data"),
    UNISONO_BATCHED: unisono_program("contenders.unisono_data_batched"),
    TF_DATA: Program(module="contenders.tf_data", environment="tensorflow"),
    TF_DATA_BATCHED: Program(module="contenders.tf_data_batched", environment="tensorflow"),
    GRAIN: Program(module="contenders.grain_data", environment="loaders"),
    TORCH: Program(module="contenders.torch_data", environment="loaders"),
}


def _make_files(case: Case) -> None:
    work = case.workload
    if case.name == "jpeg":
        make_jpegs(work.steps_per_round, 256)
    elif case.name == "records":
        make_records(work.steps_per_round)


def _source(case: Case) -> str:
    return "JPEGs of 256 x 256" if case.name == "jpeg" else _data.source()


def _cells(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    seconds = median_and_spread(series.seconds_per_step)[0]
    return (
        f"{1 / seconds:,.0f}",
        f"{1 / min(series.seconds_per_step):,.0f}",
        f"{1e6 * median_and_spread(series.cpu_seconds_per_step)[0]:.3g}",
        *relative_to(UNISONO, result, name),
    )


def _caption(result: Result, rounds: int) -> str:
    pipeline = Pipeline(**result.workload)
    return f"{rounds} rounds of {pipeline.num_elements:,} elements in batches of {pipeline.batch_size}"


FORM = Form(
    header=("contender", "elements/s, median", "best", "CPU µs/element", "time relative to Unisono", "quartiles"),
    cells=_cells,
    caption=_caption,
)

BENCHMARK = Benchmark(cases=CASES, programs=PROGRAMS, form=FORM, data=_source, prefix="data-", prepare=_make_files)

if __name__ == "__main__":
    sys.exit(main(__doc__, BENCHMARK))
