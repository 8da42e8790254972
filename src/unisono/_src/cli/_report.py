"""`unisono report` and `unisono watch`: a run as a page, and live in the terminal."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from unisono._src.reports import RunError, describe_in_terminal, make_page, read_run


def report(arguments: Sequence[str]) -> int:
    """Writes a page about one run or several; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="unisono report",
        description="Writes one self-contained HTML page about a run, or several side by side: losses and metrics, "
        "learning rate, speed, where the time went, restarts, and the bottleneck of the run.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder, of resume= or `unisono run`")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the page (default: RUN/report.html)")
    options = parser.parse_args(arguments)
    try:
        runs = [read_run(run) for run in options.runs]
    except RunError as error:
        return _fail("report", error)
    output: Path = options.output or runs[0].path / "report.html"
    try:
        output.write_text(make_page(runs), encoding="utf-8", errors="replace")
    except OSError as error:
        return _fail("report", f"{output} cannot be written: {error.strerror}. Name another file: -o FILE")
    print(output)
    return 0


def watch(arguments: Sequence[str]) -> int:
    """Shows a run until Ctrl-C, or once; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="unisono watch",
        description="Shows a run in the terminal, during training and afterwards. Ctrl-C stops it.",
    )
    parser.add_argument("run", metavar="RUN", help="a run folder, of resume= or `unisono run`")
    parser.add_argument("--once", action="store_true", help="print the current state and exit")
    parser.add_argument(
        "--interval", type=float, default=1.0, metavar="SECONDS", help="time between updates (default: 1)"
    )
    options = parser.parse_args(arguments)
    console = Console()
    if options.once:
        try:
            console.print(describe_in_terminal(read_run(options.run), time.time()))
        except RunError as error:
            return _fail("watch", error)
        return 0
    if not Path(options.run).is_dir():  # a folder without lines may get some; one that is not there is a typing error
        return _fail("watch", RunError(f"{options.run}: no such folder. Pass the folder of a run."))
    try:
        with Live(_frame(options.run), console=console, auto_refresh=False, screen=console.is_terminal) as live:
            while True:
                time.sleep(max(options.interval, 0.1))
                live.update(_frame(options.run), refresh=True)
    except KeyboardInterrupt:
        pass
    console.print(_frame(options.run))  # what was seen last stays in the terminal
    return 0


def _frame(run: str) -> RenderableType:
    try:
        return describe_in_terminal(read_run(run), time.time())
    except RunError as error:
        return Text(str(error))


def _fail(command: str, error: object) -> int:
    print(f"unisono {command}: {error}", file=sys.stderr)
    return 2
