"""Writes RESULTS.md and results.svg from the saved measurements: all tables, and one plot of small and large models.

```
page.py             after measuring with --save
page.py --check     exits with 1 if that was forgotten
```
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

from _cases import UNISONO
from _command import load
from _measure import median_and_spread

HERE = Path(__file__).parent
SAVED = HERE / "results" / "saved"

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

# Files of results, and what the plot calls them.
CASES = {
    "mlp-1": "MLP, 1 CPU device",
    "mlp-2": "MLP, 2 CPU devices",
    "mlp-4": "MLP, 4 CPU devices",
    "mlp-8": "MLP, 8 CPU devices",
    "cnn-1": "CNN, 1 CPU device",
    "cnn-2": "CNN, 2 CPU devices",
    "cnn-4": "CNN, 4 CPU devices",
    "cnn-8": "CNN, 8 CPU devices",
    "evaluate-mlp": "evaluate: MLP, 1 CPU device",
    "evaluate-cnn": "evaluate: CNN, 1 CPU device",
    "predict-mlp": "predict: MLP, 1 CPU device",
    "predict-cnn": "predict: CNN, 1 CPU device",
    "mlp-gpu": "MLP, H200",
    "cnn-gpu": "CNN, H200",
    "large-resnet50": "ResNet-50, H200",
    "large-resnet50-4-epochs": "ResNet-50, 4 epochs, H200",
    "large-gpt2": "GPT-2 small, H200",
    "loops-1": "custom loop, 1 CPU device",
    "loops-2": "custom loop, 2 CPU devices",
    "workers-32": "2 processes, batch 32",
    "workers-256": "2 processes, batch 256",
}
COLORS = {
    "hand-written": "#888888",
    "shard_map": "#bbbbbb",
    "keras-jax": "#d1495b",
    "tensorflow": "#edae49",
    "torch": "#66a182",
    "torch-tuned": "#2e6f4e",
    "torch.compile": "#2e6f4e",
    "unisono-fit": "#7aa6c2",
}
_LEFT, _WIDTH, _ROW, _TOP = 190, 700, 26, 60
_LOWEST, _HIGHEST = 0.4, 32.0


class Point(NamedTuple):
    """A contender's time divided by Unisono's: the median of the rounds, and the quartiles."""

    contender: str
    median: float
    low: float
    high: float


def read_points(case: str) -> list[Point]:
    """The contenders of a case that did not fail."""
    path = SAVED / f"{case}.json"
    if not path.exists():
        return []
    result = load(path)
    found = {name: result.ratios(name, UNISONO) for name in result.series if name in COLORS}
    return [Point(name, *median_and_spread(ratios)) for name, ratios in found.items() if ratios]


def draw(points: dict[str, list[Point]]) -> str:
    """One row for each case, one dot for each contender, on a logarithmic axis; Unisono is the line at 1."""
    height = _TOP + _ROW * len(points) + 30
    parts = []
    for tick in (0.5, 1, 2, 4, 8, 16, 32):
        x = _x(tick)
        css = "one" if tick == 1 else "grid"
        parts.append(f'<line class="{css}" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 14}" y2="{height - 26}"/>')
        parts.append(f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{tick:g}</text>')
    for row, (case, its) in enumerate(points.items()):
        y = _TOP + _ROW * row
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4}" text-anchor="end">{escape(CASES[case])}</text>')
        for point in its:
            color, x = COLORS[point.contender], _x(point.median)
            label = f"{point.contender}: {point.median:.2f} times the time of Unisono"
            low, high = _x(point.low), _x(point.high)
            parts.append(f'<line stroke="{color}" stroke-width="2" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>')
            parts.append(f'<circle cx="{x:.1f}" cy="{y}" r="5" fill="{color}"><title>{escape(label)}</title></circle>')
    middle = _LEFT + _WIDTH / 2
    parts.append(f'<text x="{middle:.1f}" y="{height + 8}" text-anchor="middle">time relative to Unisono</text>')
    shown = [name for name in COLORS if any(point.contender == name for its in points.values() for point in its)]
    for number, name in enumerate(shown):
        x = 12 + number * (_LEFT + _WIDTH) / len(shown)
        parts.append(f'<circle cx="{x:.1f}" cy="18" r="5" fill="{COLORS[name]}"/>')
        parts.append(f'<text x="{x + 9:.1f}" y="22">{escape(name)}</text>')
    style = (
        "text{font:12px sans-serif;fill:#222}.grid{stroke:#ddd}.one{stroke:#0b6aa8;stroke-width:2}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDTH + 20} {height + 16}" role="img" '
        f'aria-label="Time of each contender divided by that of Unisono"><style>{style}</style>{"".join(parts)}</svg>\n'
    )


def _x(ratio: float) -> float:
    inside = min(max(ratio, _LOWEST), _HIGHEST)
    return _LEFT + _WIDTH * math.log(inside / _LOWEST) / math.log(_HIGHEST / _LOWEST)


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
        "are made. A dot to the right of the blue line is a contender that takes longer than Unisono. Short lines are\n"
        "the quartiles of the rounds.\n\n"
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
