"""The few figures of a run that one looks at first."""

from __future__ import annotations

import statistics
from typing import Final

from unisono._src.charts import format_number
from unisono._src.reports._run import FitRecord, Run, get_count, get_number
from unisono._src.reports._time_line import describe_status, format_seconds, list_restarts
from unisono._src.reports._verdict import judge

_OWN_NAMES: Final = {"status", "duration", "epochs", "step", "rows/s (median)", "devices", "restarts", "limited by"}


def summarize(run: Run, now: float) -> dict[str, str]:
    """By name: status, time, epochs, last metrics, speed, restarts, verdict; as text."""
    fit = run.main_fit
    lines = fit.epochs or fit.intervals
    summary = {
        "status": describe_status(run, now).partition(": ")[0],  # an error without its message
        "duration": format_seconds(run.last_time - run.began),
        "epochs": _count_epochs(fit),
    }
    if lines:
        summary["step"] = f"{get_count(lines[-1], 'step'):,}"
        for name, value in list(lines[-1].get("metrics", {}).items())[:6]:
            shown = f"metric {name}" if name in _OWN_NAMES else name
            summary[shown] = format_number(get_number({"value": value}, "value"), 4)
        rows = [get_number(line, "rows_per_second") for line in fit.lines if line.get("rows_per_second")]
        if rows:
            summary["rows/s (median)"] = format_number(statistics.median(rows))
    summary["devices"] = str(get_count(fit.attempts[-1].start, "devices", 1))
    # One failure restarts every `fit` before it in the script, too.
    if restarts := len({each.time for each in list_restarts(run)}):
        summary["restarts"] = str(restarts)
    summary["limited by"] = judge(fit)[0].title
    return summary


def _count_epochs(fit: FitRecord) -> str:
    wanted = fit.description.get("epochs")
    done = get_count(fit.epochs[-1], "epoch") + 1 if fit.epochs else 0
    return f"{done} of {wanted}" if wanted else str(done)
