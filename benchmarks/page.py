"""Writes RESULTS.md and results.svg from the saved measurements: all tables, and one plot of small and large models.

```
page.py             after measuring with --save
page.py --check     exits with 1 if that was forgotten
```
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from _cases import UNISONO
from _chart import CASES, SYMBOLS, Point, draw
from _command import SAVED, load
from _measure import median_and_spread

HERE = Path(__file__).parent

SECTIONS = {
    "run.py": "Small networks",
    "loops.py": "Custom training loops",
    "workers.py": "Two worker processes",
    "large.py": "Large models on a GPU",
    "sharding.py": "Sharded state",
    "data.py": "Input pipelines",
    "saving.py": "Checkpointing",
    "start.py": "Start of a program",
}


def read_points(case: str) -> list[Point]:
    """The contenders of a case that did not fail."""
    path = SAVED / f"{case}.json"
    if not path.exists():
        return []
    result = load(path)
    found = {name: result.ratios(name, UNISONO) for name in result.series if name in SYMBOLS}
    return [Point(name, *median_and_spread(ratios)) for name, ratios in found.items() if ratios]


def read_tables() -> str:
    """The tables of all benchmarks that have saved results."""
    parts = []
    for script, title in SECTIONS.items():
        command = [sys.executable, HERE / script, "--markdown", "--save"]
        table = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        if table.count("\n") > 1:
            parts.append(f"## {title}\n\n{table}\n")
    return "\n".join(parts)


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the files are out of date")
    arguments = parser.parse_args()
    points = {case: its for case in CASES if (its := read_points(case))}
    introduction = (
        "# Results of the benchmarks\n\n"
        "Written by `make bench-page` from the measurements in `results/saved`. [README.md](README.md) says how they\n"
        "are made. A symbol to the right of the thick line is a contender that takes longer than Unisono. Short lines\n"
        "are the quartiles of the rounds. The plot leaves out input pipelines, checkpointing, the start of a program,\n"
        "and the loops and the training of Unisono that are compared with Unisono itself: they are in the tables.\n\n"
        "![Time of each contender divided by that of Unisono](results.svg)\n\n"
    )
    files = {HERE / "results.svg": draw(points), HERE / "RESULTS.md": introduction + read_tables()}
    if arguments.check:
        outdated = [path.name for path, text in files.items() if path.read_text() != text]
        if outdated:
            print(f"Out of date: {', '.join(outdated)}. Type: make bench-page")
        return 1 if outdated else 0
    for path, text in files.items():
        path.write_text(text)
    print(f"{HERE / 'RESULTS.md'}: {len(points)} cases in the plot")
    return 0


if __name__ == "__main__":
    sys.exit(main())
