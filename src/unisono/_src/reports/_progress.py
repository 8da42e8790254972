"""The chart of steps over time, with what was lost in restarts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from unisono._src.charts import Mark, Series, draw_lines
from unisono._src.reports._run import FitRecord, Run, get_number
from unisono._src.reports._time_line import list_restarts

_MAX_FITS: Final = 8

Line = Mapping[str, Any]


def draw_progress(run: Run) -> str:
    """Steps over time, with restarts; dashed what was computed and lost."""
    began, (unit, name) = run.began, _time_unit(run.last_time - run.began)

    def points(lines: Sequence[Line | None]) -> tuple[list[float], list[float]]:
        return (
            [math.nan if line is None else (_time(line) - began) / unit for line in lines],
            [math.nan if line is None else get_number(line, "step") for line in lines],
        )

    series = []
    for number, fit in enumerate(run.fits[:_MAX_FITS]):
        label = "steps" if len(run.fits) == 1 else f"fit {fit.number}"
        kept, lost = _trace_attempts(fit)
        series.append(Series(label, *points(kept), color=number))
        if lost:
            again = "lost, and computed again" if len(run.fits) == 1 else f"{label}: lost, and computed again"
            series.append(Series(again, *points(lost), color=number, dashed=True))
    restarts = list_restarts(run)
    marks = [
        Mark((each.time - began) / unit, f"{each.kind}: {each.cause}" if len(restarts) == 1 else each.kind, each.text)
        for each in restarts
    ]
    more = f", of the first {_MAX_FITS} of {len(run.fits)} calls of fit" if len(run.fits) > _MAX_FITS else ""
    return draw_lines(
        series,
        title=f"Steps over time{more}",
        x_label=f"{name} since the start",
        marks=marks,
        from_zero=True,
        standalone=False,
    )


def _trace_attempts(fit: FitRecord) -> tuple[list[Line | None], list[Line | None]]:
    """Its lines in order: those that were kept, and those that were lost, from where they leave the others.

    None is a gap: between two attempts nothing is computed.
    """
    kept: list[Line | None] = []
    lost: list[Line | None] = []
    starts = [attempt.start for attempt in fit.attempts]
    ends = [*map(_time, starts[1:]), math.inf]
    for start, end in zip(starts, ends, strict=True):
        own = _lines_between([*fit.epochs, *fit.intervals], _time(start), end)
        gone = _lines_between(fit.superseded, _time(start), end)
        kept += [start, *own, None]
        if gone:
            lost += [(own or [start])[-1], *gone, None]
    return kept, lost


def _lines_between(lines: Sequence[Line], start: float, end: float) -> list[Line]:
    return sorted((line for line in lines if start <= _time(line) < end), key=_time)


def _time(line: Line) -> float:
    return get_number(line, "time")


def _time_unit(seconds: float) -> tuple[float, str]:
    units = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
    return next(unit for unit in units if seconds >= 2 * unit[0] or unit[0] == 1.0)
