"""Writes docs/faults.md from what `pytest --fault-results=FILE` has left: FILE PAGE. `make faults` does both.

Runs add to the file. Of a fault that was tried several times the last one counts.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.faults._cells import CELLS, VICTIMS

INTRODUCTION: Final = """# Faults

Kill it anywhere; the result is the same. This page was written by `make faults`, which trains a small network (dropout,
Adam, shuffled data, three epochs of 8 steps and a validation, a save every three steps), lets one fault strike at one
moment of one process, starts the job again as its user would until it is done, and compares weights, optimizer,
history and the CSV log with those of a job that nothing happened to and of which nothing was saved: *bit-equal* means
that no bit differs. The script (`tests/faults/scripts/train.py`) writes down every step that it begins, and at each
start which save is the newest: there it has to go on. *Steps run twice* are those that were begun after the newest save
and had to be begun again; training does not wait for a save to be written, so there can be twice three of them. Jobs
of two workers run under `unisono run -n 2 --max-restarts 3` (1 where the disk is full, which lasts until somebody makes
room). A process that is stopped is killed by its user; a launcher that is stopped goes on after three seconds. Faults
are tried in several runs; of each the last one counts.
"""

NAMES: Final = {
    "process": "One process, two devices, no launcher",
    "process with many steps per call": "One process, up to four steps per call, a save every six steps",
    "worker 0": "Two workers: worker 0, which writes the saves",
    "worker 1": "Two workers: worker 1, which has no part in writing",
    "launcher": "Two workers: the launcher, when worker 0 is at the moment",
}


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The page. Faults that were not tried are in it, as such."""
    tried = {(row["kind"], row["moment"], row["victim"]): row for row in rows if "kind" in row}
    text = [INTRODUCTION, _summary(tried), *(_victim(victim, tried) for victim in VICTIMS)]
    text += [_preemption(rows), _random(rows)]
    return "\n".join(text)


def _summary(tried: dict[tuple[str, str, str], dict[str, Any]]) -> str:
    rows = [tried.get((fault.kind, fault.moment, fault.victim), {}) for fault in CELLS]
    equal = sum(row.get("outcome") == "passed" for row in rows)
    disks = sorted({f"`{row['disk']}`" for row in rows if "disk" in row})
    return (
        f"**{equal} of {len(CELLS)} faults: bit-equal.** Most steps that ran twice: {_most(rows, 'twice')}. "
        f"The longest job: {_most(rows, 'seconds')} s. {platform.system()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, JAX {version('jax')}, Keras {version('keras')}; "
        f"full disks by {' and '.join(disks) or 'nothing yet'}.\n"
    )


def _victim(victim: str, tried: dict[tuple[str, str, str], dict[str, Any]]) -> str:
    lines = []
    for fault in (fault for fault in CELLS if fault.victim == victim):
        row = tried.get((fault.kind, fault.moment, fault.victim), {})
        restarts = row["attempts"] - 1 if "attempts" in row else ""
        lines.append((fault.kind, fault.moment, _codes(row), restarts, *_rest(row)))
    head = ("fault", "moment", "its starts ended with", "restarts", "steps run twice", "seconds", "result")
    return f"## {NAMES[victim]}\n\n{_table(head, lines)}"


def _preemption(rows: Sequence[dict[str, Any]]) -> str:
    told = {row["preempted"]: row for row in rows if "preempted" in row}
    lines = [(name, row.get("left_at", ""), _codes(row), *_rest(row)) for name, row in sorted(told.items())]
    head = ("SIGTERM to", "both left after step", "its starts ended with", "steps run twice", "seconds", "result")
    return f"## Preemption: both workers save at the same step\n\n{_table(head, lines)}"


def _random(rows: Sequence[dict[str, Any]]) -> str:
    killed = {row["random"]: row for row in rows if "random" in row}
    names = ("steps", "kills", "after_first_save", "in_training")
    lines = [(name, *(row.get(each, "") for each in names), *_rest(row)) for name, row in sorted(killed.items())]
    head = ("job", "steps", "SIGKILLs at random", "after the first save", "in training")
    return f"## Random kills of one job\n\n{_table((*head, 'steps run twice', 'seconds', 'result'), lines)}"


def _rest(row: dict[str, Any]) -> tuple[Any, Any, str]:
    result = {"passed": "bit-equal", "failed": "**failed**"}.get(row.get("outcome", ""), "not tried")
    return row.get("twice", ""), row.get("seconds", ""), result


def _most(rows: Iterable[dict[str, Any]], name: str) -> Any:
    return max((row[name] for row in rows if name in row), default=0)


def _codes(row: dict[str, Any]) -> str:
    return ", ".join(str(code) if code >= 0 else signal.Signals(-code).name for code in row.get("codes", []))


def _table(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def main(results: Path, target: Path) -> None:
    target.write_text(page([json.loads(line) for line in results.read_text().splitlines()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
