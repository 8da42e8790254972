"""The charts of runs: metrics, learning rate, speed, time by part, progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from unisono._src.charts import Mark, Series, draw_lines, draw_stacked_bars
from unisono._src.core import PARTS
from unisono._src.reports._read_run import FitRecord, Run, get_number
from unisono._src.reports._time_line import Happening, list_restarts

_STEP_PARTS: Final = ("compute", "input_wait", "copy", "callbacks", "checkpoint", "other")
PART_COLORS: Final = {
    "compute": 0,
    "input_wait": 1,
    "copy": 2,
    "callbacks": 3,
    "checkpoint": 4,
    "validation": 5,
    "compile": 6,
    "other": 7,
}
_MAX_METRICS: Final = 12
_LOG_RATIO: Final = 100.0  # a metric that spans more gets a logarithmic axis

Line = Mapping[str, Any]


def draw_metrics(runs: Sequence[tuple[Run, FitRecord]]) -> list[str]:
    """A chart for each metric, with that of validation beside it, dashed; `loss` first."""
    names = {name: None for _, fit in runs for name in fit.metric_names}
    bases = list(dict.fromkeys(_base(name, names) for name in names))
    bases.sort(key=lambda base: base != "loss")  # stable: the others stay in their order
    return [_draw_metric(runs, base) for base in bases[:_MAX_METRICS]]


def draw_learning_rate(runs: Sequence[tuple[Run, FitRecord]]) -> str:
    """The learning rate at the end of each epoch."""

    def read(line: Line) -> float | None:
        return None if line.get("learning_rate") is None else get_number(line, "learning_rate")

    return _draw_by_epoch(runs, "Learning rate", lambda fit: fit.epochs, read)


def draw_speed(runs: Sequence[tuple[Run, FitRecord]]) -> str:
    """Rows per second, or steps where the batch is not known."""
    has_rows = all(line.get("rows_per_second") is not None for _, fit in runs for line in fit.lines)
    key, title = ("rows_per_second", "Rows per second") if has_rows else ("steps_per_second", "Steps per second")
    title += ", without validation and compilation"
    return _draw_by_epoch(runs, title, lambda fit: fit.lines, lambda line: get_number(line, key), from_zero=True)


def draw_step_time(run: Run, fit: FitRecord) -> str:
    """Milliseconds per step, by parts."""
    lines = [line for line in fit.lines if line.get("steps")]
    x = [_position(line, fit) for line in lines]
    parts = []
    for name in _STEP_PARTS:
        values = [1e3 * get_number(line.get("parts", {}), name) / get_number(line, "steps") for line in lines]
        if any(values):
            parts.append(Series(PARTS[name], x, values, color=PART_COLORS[name]))
    return draw_stacked_bars(
        parts,
        title="Time per step by part, in ms",
        x_label=_x_label(fit),
        marks=_marks(run, fit, shift=0.5),  # the bar of an epoch is in its middle
        whole_x=True,
        standalone=False,
    )


def draw_progress(run: Run) -> str:
    """Steps over time, with restarts; dashed what was computed and lost."""
    began, (unit, name) = run.began, _time_unit(run.last_time - run.began)
    series = []
    for number, fit in enumerate(run.fits[:8]):
        label = "steps" if len(run.fits) == 1 else f"fit {fit.number}"
        kept = sorted((*fit.epochs, *fit.intervals, *(each.start for each in fit.attempts)), key=_time)
        series.append(Series(label, *_points(kept, began, unit), color=number))
        if fit.superseded:
            lost = sorted(fit.superseded, key=_time)
            again = f"{label}, computed again later"
            series.append(Series(again, *_points(lost, began, unit), color=number, dashed=True))
    marks = [Mark((each.time - began) / unit, _short(each)) for each in list_restarts(run)]
    return draw_lines(
        series,
        title="Steps over time",
        x_label=f"{name} since the start",
        marks=marks,
        from_zero=True,
        standalone=False,
    )


def _draw_metric(runs: Sequence[tuple[Run, FitRecord]], base: str) -> str:
    series, values = [], []
    for number, (run, fit) in enumerate(runs):
        for name in (base, f"val_{base}"):
            lines = [line for line in (fit.lines if name == base else fit.epochs) if name in line.get("metrics", {})]
            if not lines:
                continue
            y = [get_number(line["metrics"], name) for line in lines]
            values += y
            label = name if len(runs) == 1 else f"{run.name}: {name}"
            x = [_position(line, fit) for line in lines]
            series.append(Series(label, x, y, color=number, dashed=name != base))
    positive = [value for value in values if value > 0]
    log = bool(positive) and len(positive) == len(values) and max(positive) / min(positive) > _LOG_RATIO
    return draw_lines(
        series,
        title=base,
        x_label=_x_label(runs[0][1]),
        y_scale="log" if log else "linear",
        marks=_marks(*runs[0]) if len(runs) == 1 else (),
        whole_x=True,
        legend=True,
        standalone=False,
    )


def _draw_by_epoch(
    runs: Sequence[tuple[Run, FitRecord]],
    title: str,
    lines: Callable[[FitRecord], Sequence[Line]],
    read: Callable[[Line], float | None],
    from_zero: bool = False,
) -> str:
    series = []
    for number, (run, fit) in enumerate(runs):
        points = [(_position(line, fit), value) for line in lines(fit) if (value := read(line)) is not None]
        series.append(Series(run.name, [x for x, _ in points], [y for _, y in points], color=number))
    return draw_lines(
        series,
        title=title,
        x_label=_x_label(runs[0][1]),
        marks=_marks(*runs[0]) if len(runs) == 1 else (),
        whole_x=True,
        from_zero=from_zero,
        standalone=False,
    )


def _position(line: Line, fit: FitRecord) -> float:
    """The x of a line: its epoch, from 1; its step, for lines within an epoch."""
    return get_number(line, "step") if fit.lines is fit.intervals else get_number(line, "epoch") + 1


def _x_label(fit: FitRecord) -> str:
    return "step" if fit.lines is fit.intervals else "epoch"


def _marks(run: Run, fit: FitRecord, *, shift: float = 0.0) -> list[Mark]:
    """Restarts of this `fit`, where it continued; `shift` is in epochs."""
    marks = []
    for each in list_restarts(run):
        if each.fit != fit.number or each.step is None:
            continue
        steps = fit.description.get("steps_per_epoch")
        if fit.lines is fit.intervals:
            marks.append(Mark(each.step, each.kind))
        elif steps:
            # An epoch is drawn where it ends: the first one, after `steps` steps, at 1.
            marks.append(Mark(each.step / steps + shift, each.kind))
    return marks


def _short(happening: Happening) -> str:
    cause = happening.text.partition(";")[0]
    return f"{happening.kind}: {cause if len(cause) <= 36 else cause[:35] + '…'}"


def _points(lines: Sequence[Line], began: float, unit: float) -> tuple[list[float], list[float]]:
    return [(_time(line) - began) / unit for line in lines], [get_number(line, "step") for line in lines]


def _time(line: Line) -> float:
    return get_number(line, "time")


def _time_unit(seconds: float) -> tuple[float, str]:
    units = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
    return next(unit for unit in units if seconds >= 2 * unit[0] or unit[0] == 1.0)


def _base(name: str, names: Mapping[str, Any]) -> str:
    base = name.removeprefix("val_")
    return base if base in names else name
