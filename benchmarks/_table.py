"""Results as text. The tables are Markdown that is aligned to be read in a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from _cases import UNISONO, Case, Target
from _measure import Result, median_and_spread


@dataclass(frozen=True, kw_only=True)
class Form:
    """What a benchmark shows of its results.

    Attributes:
        header: names of the columns; the first is the contender's.
        cells: what stands beside the name of a contender that did not fail.
        caption: what was measured, in so many rounds.
    """

    header: tuple[str, ...]
    cells: Callable[[Result, str], tuple[str, ...]]
    caption: Callable[[Result, int], str]


def report(case: Case, result: Result, form: Form) -> str:
    """The table of one case, and which of its targets were met."""
    failures = [series.failure for series in result.series.values() if series.failure]
    return "\n".join(
        [
            _caption(result, form),
            "",
            _aligned([form.header, *(_row(result, name, form) for name in result.series)]),
            "",
            *failures,
            *(_verdict(target, result) for target in case.targets),
        ]
    )


def markdown(results: list[Result], form: Form) -> str:
    """One table of all cases, for the README, and under it how each was measured."""
    rows = [(result.case, *_row(result, name, form)) for result in results for name in result.series]
    captions = (f"- {_caption(result, form)}" for result in results)
    return "\n".join([_aligned([("case", *form.header), *rows]), "", *captions])


def met(target: Target, result: Result) -> bool:
    """Whether the median of the rounds' ratios is within the target."""
    ratios = result.ratios(UNISONO, target.opponent)
    return bool(ratios) and median_and_spread(ratios)[0] <= target.limit  # type: ignore[arg-type]


def relative_to_unisono(result: Result, name: str) -> tuple[str, str]:
    """The cells for a contender's time divided by Unisono's: median and quartiles."""
    median, low, high = median_and_spread(result.ratios(name, UNISONO) or [float("nan")])
    return f"{median:.2f}", f"{low:.2f} to {high:.2f}"


def _caption(result: Result, form: Form) -> str:
    rounds = max(len(series.seconds_per_step) for series in result.series.values())
    about = {f"{what} {value}": None for series in result.series.values() for what, value in series.about.items()}
    return (
        f"{result.case}: {form.caption(result, rounds)}, {result.data}; {result.machine}; "
        f"{', '.join(about)}; {result.measured}"
    )


def _row(result: Result, name: str, form: Form) -> tuple[str, ...]:
    if result.series[name].failure:
        return (name, "failed", *[""] * (len(form.header) - 2))
    return (name, *form.cells(result, name))


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
