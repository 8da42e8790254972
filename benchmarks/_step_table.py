"""The table of benchmarks whose rounds are calls of a step, in microseconds."""

from __future__ import annotations

from _cases import UNISONO, Workload
from _measure import Result, median_and_spread
from _table import Form, relative_to


def _cells(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    median, low, high = median_and_spread([1e6 * seconds for seconds in series.seconds_per_step])
    return (
        f"{median:,.0f}",
        f"{low:,.0f} to {high:,.0f}",
        f"{1e6 * median_and_spread(series.cpu_seconds_per_step)[0]:,.0f}",
        *relative_to(UNISONO, result, name),
    )


def _caption(result: Result, rounds: int) -> str:
    work = Workload(**result.workload)
    where = f"{work.replicas} {work.platform}" + (f" in {work.workers} processes" if work.workers > 1 else "")
    return f"{where}, global batch {work.global_batch_size}, {rounds} rounds of {work.steps_per_round} steps"


FORM = Form(
    header=("contender", "µs/step, median", "quartiles", "CPU µs/step", "time relative to Unisono", "quartiles"),
    cells=_cells,
    caption=_caption,
)
