"""The names of the files of a run, and the keys in them that a writer and a reader share. docs/reports.md has them all.

Versions: a key may be added at any time; when one is removed or changes its meaning, the version is raised, and older
readers refuse the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

RUN_VERSION: Final = 1
RUN_FILE: Final = "run.json"
METRICS_FILE: Final = "metrics.jsonl"

PARTS: Final = {
    "input_wait": "input wait",
    "copy": "copy to devices",
    "compute": "compute",
    "callbacks": "callbacks",
    "checkpoint": "checkpoint",
    "validation": "validation",
    "compile": "compile",
    "other": "other",
}
"""The parts of the time of a `fit`, and what a reader calls them. They do not overlap, and add up to all of it."""


def divide_time(seconds: float, validation: float, times: Mapping[str, Any]) -> dict[str, float]:
    """The parts of ``seconds``, of which ``validation`` were validation; ``times`` are of `FitFacts`, without it.

    >>> times = {"input_wait_seconds": 3.0, "hidden_input_seconds": 1.0, "compute_seconds": 5.0}
    >>> parts = divide_time(10.0, 0.5, times)
    >>> parts["input_wait"], parts["compute"], parts["validation"], parts["other"]
    (2.0, 6.0, 0.5, 1.5)
    """

    def get(name: str) -> float:
        return max(float(times.get(f"{name}_seconds", 0.0)), 0.0)

    # The input that was waited for while the devices still computed has cost nothing.
    hidden = min(get("hidden_input"), get("input_wait"))
    copy = min(get("copy"), get("input_wait") - hidden)
    parts = {
        "input_wait": get("input_wait") - hidden - copy,
        "copy": copy,
        "compute": get("compute") + hidden,
        "callbacks": get("callback"),
        "checkpoint": get("checkpoint_wait") + get("checkpoint_snapshot"),
        "validation": validation,
        "compile": get("compile"),
    }
    return {**parts, "other": max(seconds - sum(parts.values()), 0.0)}
