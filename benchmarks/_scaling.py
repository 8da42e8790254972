"""What several devices cost Unisono: the ratio of its `fit` to the hand-written program, by the number of devices.

The rows of the table are the cases of `fit` on CPUs: those of a network have the same global batch.
"""

from __future__ import annotations

from _cases import HAND_WRITTEN, UNISONO, Workload
from _measure import Result, median_and_spread
from _table import aligned, relative_to

_INTRODUCTION = (
    "By the number of CPU devices. Both programs shard the same global batch in the same way, so the ratio is the\n"
    "overhead of Unisono. The devices of a CPU share its cores, so the times say nothing about scaling."
)
_HEADER = (
    "network",
    "CPU devices",
    "rows per device",
    "unisono, ms/step",
    "hand-written, ms/step",
    "unisono relative to hand-written",
    "quartiles",
)


def scaling_table(results: list[Result]) -> str:
    """One row for each number of CPU devices; empty if there is only one number."""
    rows = []
    for result in sorted(results, key=lambda result: (result.workload["network"], result.workload["replicas"])):
        work = Workload(**result.workload)
        if work.platform == "cpu" and result.ratios(UNISONO, HAND_WRITTEN):
            rows.append(
                (
                    work.network,
                    str(work.replicas),
                    str(work.global_batch_size // work.replicas),
                    *(_milliseconds(result, name) for name in (UNISONO, HAND_WRITTEN)),
                    *relative_to(HAND_WRITTEN, result, UNISONO),
                )
            )
    if len({replicas for _, replicas, *_ in rows}) < 2:
        return ""
    return f"{_INTRODUCTION}\n\n{aligned([_HEADER, *rows])}"


def _milliseconds(result: Result, name: str) -> str:
    return f"{1e3 * median_and_spread(result.series[name].seconds_per_step)[0]:.4g}"
