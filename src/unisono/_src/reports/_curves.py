"""The charts of runs by epoch or step: metrics, learning rate, speed, time by part."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from unisono._src.charts import Mark, Series, draw_lines, draw_stacked_bars
from unisono._src.core import PARTS
from unisono._src.reports._run import FitRecord, Run, get_number
from unisono._src.reports._time_line import list_restarts

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
_LOG_RATIO: Final = 100.0  # a metric that spans more gets a logarithmic axis

Line = Mapping[str, Any]


def draw_metrics(runs: Sequence[tuple[Run, FitRecord]]) -> list[str]:
    """A chart for each metric, with that of validation beside it, dashed; `loss` first."""
    names = {name: None for _, fit in runs for name in fit.metric_names}
    bases = list(dict.fromkeys(_base(name, names) for name in names))
    bases.sort(key=lambda base: base != "loss")  # stable: the others stay in their order
    return [_draw_metric(runs, base) for base in bases]


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
    by_step = _is_by_step([fit])
    lines = [line for line in fit.lines if get_number(line, "steps") > 0]
    x = [_position(line, by_step) for line in lines]
    parts = []
    for name in _STEP_PARTS:
        values = [1e3 * get_number(line.get("parts", {}), name) / get_number(line, "steps") for line in lines]
        if any(values):
            parts.append(Series(PARTS[name], x, values, color=PART_COLORS[name]))
    return draw_stacked_bars(
        parts,
        title="Time per step by part, in ms",
        x_label=_x_label(by_step),
        marks=_marks(run, fit, shift=0.5),  # the bar of an epoch is in its middle
        whole_x=True,
        standalone=False,
    )


def _draw_metric(runs: Sequence[tuple[Run, FitRecord]], base: str) -> str:
    by_step = _is_by_step([fit for _, fit in runs])
    series, values = [], []
    for number, (run, fit) in enumerate(runs):
        for name in (base, f"val_{base}"):
            lines = [line for line in (fit.lines if name == base else fit.epochs) if name in line.get("metrics", {})]
            if not lines:
                continue
            y = [get_number(line["metrics"], name) for line in lines]
            values += [value for value in y if math.isfinite(value)]
            label = name if len(runs) == 1 else f"{run.name}: {name}"
            x = [_position(line, by_step) for line in lines]
            series.append(Series(label, x, y, color=number, dashed=name != base))
    log = bool(values) and min(values) > 0 and max(values) / min(values) > _LOG_RATIO
    return draw_lines(
        series,
        title=base,
        x_label=_x_label(by_step),
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
    by_step = _is_by_step([fit for _, fit in runs])
    series = []
    for number, (run, fit) in enumerate(runs):
        points = [(_position(line, by_step), value) for line in lines(fit) if (value := read(line)) is not None]
        series.append(Series(run.name, [x for x, _ in points], [y for _, y in points], color=number))
    return draw_lines(
        series,
        title=title,
        x_label=_x_label(by_step),
        marks=_marks(*runs[0]) if len(runs) == 1 else (),
        whole_x=True,
        from_zero=from_zero,
        standalone=False,
    )


def _is_by_step(fits: Sequence[FitRecord]) -> bool:
    """Whether the x of a chart are steps: if one of its fits is shown by lines within an epoch."""
    return any(fit.lines is fit.intervals for fit in fits)


def _position(line: Line, by_step: bool) -> float:
    """The x of a line: its step; or its epoch, from 1, where that ends."""
    return get_number(line, "step") if by_step else get_number(line, "epoch") + 1


def _x_label(by_step: bool) -> str:
    return "step" if by_step else "epoch"


def _marks(run: Run, fit: FitRecord, *, shift: float = 0.0) -> list[Mark]:
    """Restarts of this `fit`, where it continued; ``shift`` is in epochs."""
    restarts = [(each, each.step) for each in list_restarts(run) if each.fit == fit.number and each.step is not None]
    if _is_by_step([fit]):
        return [Mark(step, each.kind, each.text) for each, step in restarts]
    places = [(_place_in_epochs(fit, step), each) for each, step in restarts]
    return [Mark(place + shift, each.kind, each.text) for place, each in places if place is not None]


def _place_in_epochs(fit: FitRecord, step: int) -> float | None:
    """Where a step is on an axis on which the first epoch ends at 1; None if the length of its epoch is not known."""
    size = get_number(fit.description, "steps_per_epoch")
    for line in fit.epochs:
        end = get_number(line, "step")
        if step <= end:
            return get_number(line, "epoch") + max(0.0, 1 - (end - step) / (size or get_number(line, "steps") or 1.0))
    if not size:
        return None
    epochs, before = (get_number(fit.epochs[-1], "epoch") + 1, end) if fit.epochs else (0.0, 0.0)
    return epochs + (step - before) / size


def _base(name: str, names: Mapping[str, Any]) -> str:
    base = name.removeprefix("val_")
    return base if base in names else name
