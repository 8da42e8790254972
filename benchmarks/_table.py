"""Results as text. The tables are Markdown that is aligned to be read in a terminal."""

from __future__ import annotations

from _cases import UNISONO, Case, Target, Workload
from _measure import Result, median_and_spread, trains_differently

_HEADER = (
    "contender",
    "ms/step, min",
    "median",
    "CPU ms/step",
    "time relative to Unisono",
    "quartiles",
    "loss, first to last",
)


def report(case: Case, result: Result) -> str:
    """The table of one case, and which of its targets were met."""
    failures = [series.failure for series in result.series.values() if series.failure]
    return "\n".join(
        [
            _caption(result),
            "",
            _aligned([_HEADER, *(_row(result, name) for name in result.series)]),
            "",
            *failures,
            *(_verdict(target, result) for target in case.targets),
        ]
    )


def markdown(results: list[Result]) -> str:
    """One table of all cases, for the README, and under it how each was measured."""
    rows = [(result.case, *_row(result, name)) for result in results for name in result.series]
    return "\n".join([_aligned([("case", *_HEADER), *rows]), "", *(f"- {_caption(result)}" for result in results)])


def met(target: Target, result: Result) -> bool:
    """Whether the median of the rounds' ratios is within the target."""
    ratios = result.ratios(UNISONO, target.opponent)
    return bool(ratios) and median_and_spread(ratios)[0] <= target.limit  # type: ignore[arg-type]


def _caption(result: Result) -> str:
    work = Workload(**result.workload)
    rounds = max(len(series.seconds_per_step) for series in result.series.values())
    about = {f"{what} {value}": None for series in result.series.values() for what, value in series.about.items()}
    return (
        f"{result.case}: {work.replicas} {work.platform}, global batch {work.global_batch_size}, {rounds} rounds of "
        f"{work.epochs} x {work.steps} steps, {result.data}; {result.machine}; {', '.join(about)}; {result.measured}"
    )


def _row(result: Result, name: str) -> tuple[str, ...]:
    series = result.series[name]
    if series.failure:
        return (name, "failed", *[""] * (len(_HEADER) - 2))
    milliseconds = [1e3 * seconds for seconds in series.seconds_per_step]
    median, low, high = median_and_spread(result.ratios(name, UNISONO) or [float("nan")])
    losses = f"{series.losses[0]:.3f} to {series.losses[-1]:.3f}"
    return (
        name,
        f"{min(milliseconds):.4g}",
        f"{median_and_spread(milliseconds)[0]:.4g}",
        f"{1e3 * median_and_spread(series.cpu_seconds_per_step)[0]:.4g}",
        f"{median:.2f}",
        f"{low:.2f} to {high:.2f}",
        losses + (" (trains differently!)" if trains_differently(result, name) else ""),
    )


def _verdict(target: Target, result: Result) -> str:
    ratios = result.ratios(UNISONO, target.opponent)
    if not ratios:
        return f"NOT MET  {target}: one of the two did not finish"
    median, low, high = median_and_spread(ratios)
    return f"{'met    ' if met(target, result) else 'NOT MET'}  {target}: {median:.3f} ({low:.3f} to {high:.3f})"


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
