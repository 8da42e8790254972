"""Writes docs/faults.md from what `pytest --fault-results=FILE` has left: FILE PAGE. `make faults` does both.

Runs add to the file. Of a fault that was tried several times the last one counts.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import textwrap
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from tests.faults._cells import CELLS, VICTIMS

INTRODUCTION: Final = """# Faults

Training can be killed at any moment without changing the result. `make faults` generates this page. It trains a small
network (dropout, Adam, shuffled data, three epochs of 8 steps with validation, a checkpoint every three steps), injects
one fault at one moment into one process, restarts the job as a user would until it finishes, and compares weights,
optimizer state, history and the CSV log with those of an undisturbed job without checkpoints. *Bit-equal* means that no
bit differs. The script (`tests/faults/scripts/train.py`) records every step that it starts, and each time it is
started, the newest checkpoint, from which it must resume. *Repeated steps* were started after the newest checkpoint and
had to be run again; training does not wait until a checkpoint is written, so each restart can repeat up to twice as
many steps as there are between two checkpoints. Jobs with two workers run under `unisono run -n 2 --max-restarts 3`
(one restart if the disk is full, because it stays full until the user makes room). A stopped process is killed by the
user; a stopped launcher is continued after three seconds. Some faults were tried more than once; the last result is
shown.
"""

NAMES: Final = {
    "process": "One process, two devices, no launcher",
    "process with many steps per call": "One process, up to four steps per call, a checkpoint every six steps",
    "worker 0": "Two workers: worker 0, which writes the checkpoints",
    "worker 1": "Two workers: worker 1, which writes nothing",
    "launcher": "Two workers: the launcher, at the same moments of worker 0",
    "sharded worker 0": "Two workers with sharded state: worker 0, which writes its part and completes the checkpoints",
    "sharded worker 1": "Two workers with sharded state: worker 1, which writes its part",
    "ZeRO-1 worker 1": "Two workers with a sharded optimizer: worker 1, which writes its part of the optimizer state",
    "mesh worker 0": "Two workers that share the work of each layer: worker 0, which completes the checkpoints",
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
    summary = (
        f"**{equal} of {len(CELLS)} faults: bit-equal.** Most repeated steps: {_most(rows, 'twice')}. "
        f"The longest job: {_most(rows, 'seconds')} s. {platform.system()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, JAX {version('jax')}, Keras {version('keras')}; "
        f"full disks on {' and '.join(disks) or 'nothing yet'}."
    )
    return f"{textwrap.fill(summary, 120)}\n"


def _victim(victim: str, tried: dict[tuple[str, str, str], dict[str, Any]]) -> str:
    lines = []
    for fault in (fault for fault in CELLS if fault.victim == victim):
        row = tried.get((fault.kind, fault.moment, fault.victim), {})
        restarts = row["attempts"] - 1 if "attempts" in row else ""
        lines.append((fault.kind, fault.moment, _codes(row), restarts, *_rest(row)))
    head = ("fault", "moment", "exit codes", "restarts", "repeated steps", "seconds", "result")
    return f"## {NAMES[victim]}\n\n{_table(head, lines)}"


def _preemption(rows: Sequence[dict[str, Any]]) -> str:
    preempted = {row["preempted"]: row for row in rows if "preempted" in row}
    lines = [(name, row.get("left_at", ""), _codes(row), *_rest(row)) for name, row in sorted(preempted.items())]
    head = ("SIGTERM to", "both exited after step", "exit codes", "repeated steps", "seconds", "result")
    return f"## Preemption: both workers save at the same step\n\n{_table(head, lines)}"


def _random(rows: Sequence[dict[str, Any]]) -> str:
    killed = {row["random"]: row for row in rows if "random" in row}
    names = ("steps", "kills", "after_first_save", "in_training")
    lines = [(name, *(row.get(each, "") for each in names), *_rest(row)) for name, row in sorted(killed.items())]
    head = ("job", "steps", "random SIGKILLs", "after the first checkpoint", "in training")
    return f"## Random kills of one job\n\n{_table((*head, 'repeated steps', 'seconds', 'result'), lines)}"


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
