"""How far are the predictions of `unisono plan` from what training takes on this machine?

```
plan.py                    all cases; about ten minutes on an idle machine
plan.py mlp --rounds 1     one case, shorter
plan.py --write            also writes the table into docs/more-devices.md
```

Plans and runs alternate, so that a slow phase of the machine affects both. Each is a process of its own. The table has
the medians of the rounds. The machine has to be idle: a prediction assumes that all cores are there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

SCRIPT = Path(__file__).with_name("plan_script.py")
PAGE = Path(__file__).parents[1] / "docs" / "more-devices.md"
BEGIN, END = "<!-- begin: make plan-error -->", "<!-- end: make plan-error -->"
SECONDS = 600


@dataclass
class Case:
    """One network under one strategy, on some numbers of devices or processes."""

    name: str
    title: str
    strategy: str
    numbers: tuple[int, ...]
    predicted: dict[int, list[float]] = field(default_factory=dict)
    measured: dict[int, list[float]] = field(default_factory=dict)

    @property
    def network(self) -> str:
        return self.name.partition("-")[0]

    def plan(self) -> None:
        bandwidth = "measure-processes" if self.strategy == "workers" else "measure"
        options = [
            "--devices",
            str(max(self.numbers)),
            "--bandwidth",
            bandwidth,
            "--json",
            str(SCRIPT),
            self.network,
            self.strategy,
        ]
        found = json.loads(_run([sys.executable, "-m", "unisono_launch", "plan", *options]))
        for each in found["same_batch"]:
            if each["devices"] in self.numbers:
                self.predicted.setdefault(each["devices"], []).append(1e3 * each["seconds"])

    def run(self) -> None:
        for number in self.numbers:
            script, variables = [str(SCRIPT), self.network, self.strategy], {}
            if self.strategy == "workers":
                command = [sys.executable, "-m", "unisono_launch", "run", "-n", str(number), *script]
            else:  # as many CPU devices as in the plan, whose number decides how many threads XLA has
                command, variables = [sys.executable, *script, str(number)], {"UNISONO_CPU_DEVICES": "8"}
            lines = re.findall(r"milliseconds=([\d.]+)", _run(command, variables))
            self.measured.setdefault(number, []).append(statistics.mean(map(float, lines)))

    def rows(self) -> list[tuple[str, int, float, float, float]]:
        """Title, number, predicted and measured milliseconds, and error."""
        found = []
        for number in self.numbers:
            predicted, measured = (statistics.median(each[number]) for each in (self.predicted, self.measured))
            found.append((self.title, number, predicted, measured, predicted / measured - 1))
        return found


CASES = [
    Case("mlp-devices", "MLP 784-256-256-10, batch 256, devices", "mirrored", (1, 2, 4, 8)),
    Case("wide-devices", "MLP 784-1024-1024-10, batch 256, devices", "mirrored", (1, 2, 4, 8)),
    Case("cnn-devices", "CNN, batch 64, devices", "mirrored", (1, 2, 4, 8)),
    Case("wide-sharded", "MLP 784-1024-1024-10, batch 256, fully sharded devices", "sharded", (1, 2, 4, 8)),
    Case("mlp-processes", "MLP 784-256-256-10, batch 256, processes", "workers", (1, 2, 4)),
    Case("wide-processes", "MLP 784-1024-1024-10, batch 256, processes", "workers", (1, 2, 4)),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"beginnings of names of {', '.join(case.name for case in CASES)}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the table into docs/more-devices.md")
    arguments = parser.parse_args()
    chosen = [case for case in CASES if not arguments.cases or case.name.startswith(tuple(arguments.cases))]
    for number in range(arguments.rounds):
        for case in chosen:
            case.plan()
            case.run()
            print(f"round {number + 1}, {case.name}: {json.dumps([case.predicted, case.measured])}", flush=True)
    text = table(chosen)
    print(text)
    if arguments.write:
        page = PAGE.read_text()
        pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n{text}\n{END}", page))


def table(cases: list[Case]) -> str:
    """The results as a table in Markdown."""
    rows = [row for case in cases for row in case.rows()]
    lines = ["| case | number | predicted ms | measured ms | error |", "|---|---|---|---|---|"]
    lines += [
        f"| {title} | {number} | {predicted:.2f} | {measured:.2f} | {error:+.0%} |"
        for title, number, predicted, measured, error in rows
    ]
    within = sum(abs(row[-1]) <= 0.15 for row in rows)
    versions = f"Python {platform.python_version()}, JAX {version('jax')}, {os.cpu_count()} cores"
    return "\n".join([*lines, "", f"{within} of {len(rows)} are within 15%. {versions}."])


def _run(command: list[str], variables: dict[str, str] | None = None) -> str:
    environment = {**os.environ, **(variables or {}), "KERAS_BACKEND": "jax"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=environment, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
