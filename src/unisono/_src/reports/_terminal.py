"""A run in a terminal: what `unisono watch` shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from unisono._src.charts import format_number
from unisono._src.core import PARTS
from unisono._src.reports._read_run import make_printable
from unisono._src.reports._run import FitRecord, Run, get_count, get_number
from unisono._src.reports._summary import summarize
from unisono._src.reports._time_line import describe_status, format_seconds, list_run_events
from unisono._src.reports._verdict import judge

_BLOCKS: Final = "▁▂▃▄▅▆▇█"
_SPARK_WIDTH: Final = 40
_MAX_METRICS: Final = 8
_MAX_EVENTS: Final = 6


def describe_in_terminal(run: Run, now: float) -> RenderableType:
    """One frame: figures, metrics with their course, parts of the time, verdict, the last events."""
    fit = run.main_fit if run.last_fit.attempts[-1].end else run.last_fit
    parts: list[RenderableType] = [_figures(run, now), _progress(fit), _metrics(fit), _parts(fit)]
    for verdict in judge(fit):
        text = Text.assemble((f"{verdict.title}: ", "bold"), verdict.text)
        text.stylize("yellow" if verdict.part not in ("compute", "none") else "green", 0, len(verdict.title))
        parts.append(text)
    parts.append(_run_events(run))
    return Panel(Group(*parts), title=Text(run.name, style="bold"), subtitle=Text(make_printable(str(run.path))))


def draw_sparkline(values: Sequence[float], width: int = _SPARK_WIDTH) -> str:
    """The course of values as a line of blocks.

    >>> draw_sparkline([4.0, 2.0, 1.0, 0.0])
    '█▅▃▁'
    """
    size = max(1, math.ceil(len(values) / width))
    starts = range(0, len(values), size)
    groups = [[each for each in values[start : start + size] if math.isfinite(each)] for start in starts]
    means = [sum(group) / len(group) if group else math.nan for group in groups]
    finite = [each for each in means if math.isfinite(each)]
    if not finite:
        return ""
    low, extent = min(finite), (max(finite) - min(finite)) or 1.0
    last = len(_BLOCKS) - 1
    return "".join(_BLOCKS[round((each - low) / extent * last)] if math.isfinite(each) else " " for each in means)


def _figures(run: Run, now: float) -> RenderableType:
    summary = summarize(run, now) | {"status": describe_status(run, now)}
    shown = ("status", "duration", "epochs", "step", "rows/s (median)", "devices", "restarts")
    return Text("   ").join(Text.assemble((f"{name} ", "dim"), summary[name]) for name in shown if name in summary)


def _progress(fit: FitRecord) -> RenderableType:
    wanted, steps = get_count(fit.description, "epochs"), get_count(fit.description, "steps_per_epoch")
    lines = [*fit.epochs, *fit.intervals]
    if not (wanted and steps and lines):
        return Text("")
    grid = Table.grid(expand=True)  # the bar alone does not end its line
    grid.add_row(ProgressBar(total=wanted * steps, completed=max(get_number(line, "step") for line in lines)))
    return grid


def _metrics(fit: FitRecord) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for column in ("metric", "last", "best seen", "course"):
        table.add_column(column, justify="right" if column in ("last", "best seen") else "left")
    for name in fit.metric_names[:_MAX_METRICS]:
        lines = [line for line in fit.lines if name in line.get("metrics", {})]
        values = [get_number(line["metrics"], name) for line in lines]
        finite = [value for value in values if math.isfinite(value)]
        if values:
            smaller_is_better = "loss" in name or "error" in name or name.endswith(("mse", "mae"))
            best = (min if smaller_is_better else max)(finite) if finite else math.nan
            row = (name, format_number(values[-1], 4), format_number(best, 4), draw_sparkline(values))
            table.add_row(*map(Text, row))
    rates = [get_number(line, "learning_rate") for line in fit.epochs if line.get("learning_rate") is not None]
    if rates:
        table.add_row("learning rate", format_number(rates[-1]), "", draw_sparkline(rates))
    speeds = [get_number(line, "rows_per_second") for line in fit.lines if line.get("rows_per_second")]
    if speeds:
        table.add_row("rows/s", format_number(speeds[-1]), format_number(max(speeds)), draw_sparkline(speeds))
    return table


def _parts(fit: FitRecord) -> RenderableType:
    parts = fit.seconds_by_part
    total = sum(parts.values())
    if not total:
        return Text("")
    table = Table(box=None, pad_edge=False)
    for column in ("part of the time", "share", ""):
        table.add_column(column, justify="right" if column == "share" else "left")
    for name in sorted(parts, key=lambda each: -parts[each]):
        if parts[name] / total >= 0.005:
            bar = "█" * max(1, round(_SPARK_WIDTH * parts[name] / total))
            table.add_row(PARTS[name], f"{parts[name] / total:.0%}", f"{bar} {format_seconds(parts[name])}")
    return table


def _run_events(run: Run) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False)
    for each in list_run_events(run)[-_MAX_EVENTS:]:
        style = "yellow" if each.kind in ("restart", "preemption", "excluded") else "dim"
        table.add_row(Text(f"+{format_seconds(each.time - run.began)}"), Text(each.kind), Text(each.text), style=style)
    return table
