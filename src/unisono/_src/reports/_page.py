"""One page of HTML about one run or several, which needs no other file."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from unisono._src.charts import chart_style, color_class
from unisono._src.core import PARTS
from unisono._src.reports._curves import (
    PART_COLORS,
    draw_learning_rate,
    draw_metrics,
    draw_speed,
    draw_step_time,
)
from unisono._src.reports._facts import list_facts
from unisono._src.reports._page_style import PAGE_STYLE
from unisono._src.reports._progress import draw_progress
from unisono._src.reports._read_run import name_apart
from unisono._src.reports._run import FitRecord, Run
from unisono._src.reports._summary import summarize
from unisono._src.reports._time_line import format_seconds, list_run_events
from unisono._src.reports._verdict import judge

_MAX_FITS: Final = 12
_MAX_ENDS: Final = 20  # events of the time line at its beginning and its end; interruptions are all in it


def make_page(runs: Sequence[Run], now: float | None = None) -> str:
    """The text of the page. All text of the user is escaped; there is no script, and nothing is loaded."""
    now = time.time() if now is None else now
    runs = name_apart(runs)
    title = " · ".join(run.name for run in runs)
    body = [_compare(runs, now)] if len(runs) > 1 else []
    body += [_describe_run(run, now, is_alone=len(runs) == 1) for run in runs]
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)} – unisono report</title>"
        f"<style>{PAGE_STYLE}{chart_style()}</style></head><body><main>{''.join(body)}"
        f"<footer>Made by <code>unisono report</code> on {when}. Parts of the time are those of the chief’s loop: what "
        "it waited for.</footer></main></body></html>\n"
    )


def _compare(runs: Sequence[Run], now: float) -> str:
    fits = [(run, run.main_fit) for run in runs]
    rows = [summarize(run, now) for run in runs]
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(run.name)}</th>" for run in runs)
    lines = "".join(_row(name, [row.get(name, "") for row in rows]) for name in names)
    charts = [*draw_metrics(fits), draw_learning_rate(fits), draw_speed(fits)]
    return (
        f"<h1>{len(runs)} runs</h1>"
        f'<div class="card scroll"><table><tr><th></th>{head}</tr>{lines}</table></div>'
        f"<h2>Side by side</h2>{_grid(charts)}"
    )


def _row(name: str, values: Sequence[str]) -> str:
    return f"<tr><th>{escape(name)}</th>{''.join(f'<td>{escape(value)}</td>' for value in values)}</tr>"


def _describe_run(run: Run, now: float, *, is_alone: bool) -> str:
    fit = run.main_fit
    tag = "h1" if is_alone else "h2"
    command = str(run.description.get("command", ""))
    parts = [
        f"<{tag}>{escape(run.name)}</{tag}><p class=muted><code>{escape(command)}</code></p>",
        _tiles(summarize(run, now)) if is_alone else "",
        "<h3>What limits it</h3>",
        "".join(
            f'<div class="card verdict{" limit" if verdict.part not in ("compute", "none") else ""}">'
            f"<b>{escape(verdict.title)}</b>{escape(verdict.text)}</div>"
            for verdict in judge(fit)
        ),
        _share_bar(fit),
    ]
    charts = []
    if is_alone:
        charts = [*draw_metrics([(run, fit)]), draw_learning_rate([(run, fit)]), draw_speed([(run, fit)])]
    charts += [draw_step_time(run, fit), draw_progress(run)]
    parts.append(f"<h3>Curves{_of_fit(run, fit)}</h3>{_grid(charts)}")
    parts.append(f"<h3>Time line</h3>{_time_line(run)}")
    if len(run.fits) > 1:
        parts.append(_other_fits(run, fit))
    parts.append(_facts(run, fit, now))
    return "".join(parts)


def _of_fit(run: Run, fit: FitRecord) -> str:
    return "" if len(run.fits) == 1 else f" of fit {fit.number}, the longest of {len(run.fits)}"


def _tiles(summary: Mapping[str, str]) -> str:
    tiles = "".join(
        f"<div class=tile><b>{escape(value)}</b><span>{escape(name)}</span></div>" for name, value in summary.items()
    )
    return f'<div class="tiles">{tiles}</div>'


def _grid(charts: Sequence[str]) -> str:
    return f'<div class="charts">{"".join(f"<div class=card>{chart}</div>" for chart in charts)}</div>'


def _share_bar(fit: FitRecord) -> str:
    parts = fit.seconds_by_part
    total = sum(parts.values())
    if not total:
        return ""
    order = sorted((name for name in parts if parts[name] / total >= 0.001), key=lambda name: PART_COLORS[name])
    bar = "".join(
        f'<i class="unisono-swatch {color_class(PART_COLORS[name])}" style="width:{100 * parts[name] / total:.2f}%" '
        f'title="{PARTS[name]}: {parts[name] / total:.1%}"></i>'
        for name in order
    )
    key = "".join(
        f'<span><i class="unisono-swatch {color_class(PART_COLORS[name])}"></i>{PARTS[name]} {parts[name] / total:.1%} '
        f"<span class=muted>{format_seconds(parts[name])}</span></span>"
        for name in order
    )
    title = f"<b>{format_seconds(total)} in epochs, by part</b>"
    body = f'<div class="bar">{bar}</div><div class="key">{key}</div>{_explain_exchange(fit)}'
    return f'<div class="card">{title}{body}</div>'


def _explain_exchange(fit: FitRecord) -> str:
    """Why the all-reduce is not among the parts."""
    if fit.num_devices <= 1 or not fit.seconds_by_part["compute"]:
        return ""
    return (
        f"<p class=muted>Compute includes what the {fit.num_devices} devices exchange, such as the all-reduce of "
        "gradients. It is inside the compiled step and may run while the step computes, so it cannot be timed by "
        "itself. <code>unisono plan</code> estimates it from the bytes that the step exchanges.</p>"
    )


def _time_line(run: Run) -> str:
    run_events = list_run_events(run)
    shown = [
        each
        for index, each in enumerate(run_events)
        if index < _MAX_ENDS or index >= len(run_events) - _MAX_ENDS or each.kind not in ("start", "end")
    ]
    rows = "".join(
        f"<tr><td class=time>{time.strftime('%m-%d %H:%M:%S', time.localtime(each.time))}</td>"
        f"<td class=time>{each.kind}</td><td>{escape(each.text)}</td></tr>"
        for each in shown
    )
    more = len(run_events) - len(shown)
    note = f"<p class=muted>{more} starts and ends of fit in between are in metrics.jsonl.</p>" if more else ""
    return f'<div class="card scroll"><table>{rows}</table>{note}</div>'


def _other_fits(run: Run, shown: FitRecord) -> str:
    others = [fit for fit in run.fits if fit is not shown]
    parts = []
    for fit in others[:_MAX_FITS]:
        charts = [*draw_metrics([(run, fit)]), draw_step_time(run, fit)]
        seconds = format_seconds(sum(fit.seconds_by_part.values()))
        title = f"fit {fit.number}: {len(fit.epochs)} epochs, {seconds}"
        parts.append(f"<details><summary>{title}</summary>{_grid(charts)}</details>")
    if len(others) > _MAX_FITS:
        parts.append(f"<p class=muted>{len(others) - _MAX_FITS} more are in metrics.jsonl.</p>")
    return f"<h3>Other calls of fit</h3>{''.join(parts)}"


def _facts(run: Run, fit: FitRecord, now: float) -> str:
    table = "".join(
        f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in list_facts(run, fit, now).items()
    )
    explain = ""
    if "explain" in fit.input:
        explain = f"<h3>The dataset’s explain()</h3><pre>{escape(str(fit.input['explain']))}</pre>"
    return f'<h3>Facts</h3><div class="card scroll"><table>{table}</table></div>{explain}'
