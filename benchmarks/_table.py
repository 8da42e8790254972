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
        summary: another table, of all cases together; empty if there is none.
    """

    header: tuple[str, ...]
    cells: Callable[[Result, str], tuple[str, ...]]
    caption: Callable[[Result, int], str]
    summary: Callable[[list[Result]], str] = lambda _: ""


# Two runs of one program differ by up to 1.05 on a quiet machine.
_NOISE = 1.05


def report(case: Case, result: Result, form: Form, saved: Result | None) -> str:
    """The table of one case, which of its targets were met, and what is slower than in the saved result."""
    failures = [series.failure for series in result.series.values() if series.failure]
    return "\n".join(
        [
            _caption(result, form),
            "",
            aligned([form.header, *(_row(result, name, form) for name in result.series)]),
            "",
            *failures,
            *(_verdict(target, result, saved) for target in case.targets),
            *(f"SLOWER   than saved: {slower}" for slower in find_slower(result, saved)),
        ]
    )


def markdown(results: list[Result], form: Form) -> str:
    """One table of all cases, for the README, under it how each was measured, and the summary."""
    rows = [(result.case, *_row(result, name, form)) for result in results for name in result.series]
    captions = "\n".join(f"- {_caption(result, form)}" for result in results)
    parts = [aligned([("case", *form.header), *rows]), captions, form.summary(results)]
    return "\n\n".join(part for part in parts if part)


def met(target: Target, result: Result) -> bool:
    """Whether the median of the rounds' ratios is within the target."""
    ratios = result.ratios(target.contender, target.opponent)
    return bool(ratios) and median_and_spread(ratios)[0] <= target.limit  # type: ignore[arg-type]


def passes(case: Case, result: Result, saved: Result | None) -> bool:
    """Whether `--check` finds nothing: no ratio is worse than saved, and no target is missed that was met then."""
    return not find_slower(result, saved) and all(
        met(target, result) or _was_missed(target, saved) for target in case.targets
    )


def find_slower(result: Result, saved: Result | None) -> list[str]:
    """The ratios to other libraries that are worse than saved by more than the rounds and two runs differ."""
    found = []
    for name in [] if saved is None else result.series:
        pair = result.ratios(UNISONO, name), saved.ratios(UNISONO, name)  # type: ignore[union-attr]
        if name.startswith(UNISONO) or not pair[0] or not pair[1]:
            continue
        (now, now_low, _), (before, _, before_high) = map(median_and_spread, pair)  # type: ignore[arg-type]
        if now_low > before_high and now > _NOISE * before:
            found.append(f"{now:.3f} instead of {before:.3f} times the time of {name}")
    return found


def relative_to(other: str, result: Result, name: str) -> tuple[str, str]:
    """The cells for a contender's time divided by another's: median and quartiles."""
    ratios = result.ratios(name, other)
    if not ratios:
        return "", ""
    median, low, high = median_and_spread(ratios)
    return f"{median:.2f}", f"{low:.2f} to {high:.2f}"


def aligned(rows: list[tuple[str, ...]]) -> str:
    """A table whose first row is the header."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _caption(result: Result, form: Form) -> str:
    rounds = max(len(series.seconds_per_step) for series in result.series.values())
    about = {f"{what} {value}": None for series in result.series.values() for what, value in series.about.items()}
    programs = "; compiled programs stored" if result.stored_programs else ""
    return (
        f"{result.case}: {form.caption(result, rounds)}, {result.data}{programs}; {result.machine}; "
        f"{', '.join(about)}; {result.measured}"
    )


def _row(result: Result, name: str, form: Form) -> tuple[str, ...]:
    if result.series[name].failure:
        return (name, "failed", *[""] * (len(form.header) - 2))
    return (name, *form.cells(result, name))


def _was_missed(target: Target, saved: Result | None) -> bool:
    return saved is not None and bool(saved.ratios(target.contender, target.opponent)) and not met(target, saved)


def _verdict(target: Target, result: Result, saved: Result | None) -> str:
    ratios = result.ratios(target.contender, target.opponent)
    if not ratios:
        return f"NOT MET  {target}: one of the two did not finish"
    median, low, high = median_and_spread(ratios)
    verdict = "met    " if met(target, result) else "NOT MET"
    note = ", as in the saved result" if not met(target, result) and _was_missed(target, saved) else ""
    return f"{verdict}  {target}: {median:.3f} ({low:.3f} to {high:.3f}){note}"
