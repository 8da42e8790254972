"""`unisono tf-check`: which names of TensorFlow a script uses, and whether they work. Runs nothing of the script."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from unisono._src.tf_check._script_reader import find_name_uses
from unisono._src.tf_check._sources import ParsedSource, UnreadableSourceError, find_source_files, parse_sources
from unisono._src.tf_check._verdicts import NameVerdict, assess_use
from unisono.tf._missing import PAGE

_STYLES: Final = {"supported": "green", "differs": "yellow", "missing": "bold red"}
_ORDER: Final = ("missing", "differs", "supported")
_WIDTH_WITHOUT_TERMINAL: Final = 160
_LINES_SHOWN: Final = 6


def tf_check(arguments: Sequence[str]) -> int:
    """Reads scripts, notebooks and folders of them, and prints a table for each; 1 if something is missing, else 0."""
    parser = argparse.ArgumentParser(
        prog="unisono tf-check",
        description="Reports which names of TensorFlow and Keras the scripts use, and whether each one is supported, "
        "different or missing. The scripts are not run.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a .py file, a notebook, or a folder")
    parser.add_argument("--quiet", action="store_true", help="do not list supported names")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL, highlight=False)
    missing = unreadable = 0
    absent = [str(path) for path in options.paths if not path.exists()]
    if absent:
        parser.error(f"{', '.join(absent)}: no such file or folder.")
    for path in (file for each in options.paths for file in find_source_files(each)):
        try:
            for source in parse_sources(path):
                missing += _report(source, console, options.quiet)
        except UnreadableSourceError as error:
            console.print(str(error), style="bold red", markup=False)
            unreadable += 1
    return 1 if missing or unreadable else 0


def _report(source: ParsedSource, console: Console, quiet: bool) -> int:
    """Prints the verdicts on the names; returns how many are missing."""
    lines: dict[NameVerdict, list[str]] = {}
    for use in find_name_uses(source.tree):
        for verdict in assess_use(use):
            locations = lines.setdefault(verdict, [])
            if source.line(use.line) not in locations:
                locations.append(source.line(use.line))
    counts = {status: sum(verdict.status == status for verdict in lines) for status in _ORDER}
    table = Table(title=source.path, title_justify="left", title_style="bold")
    table.add_column("name", overflow="fold", max_width=64)
    table.add_column("lines", overflow="fold", max_width=24)
    table.add_column("status")
    table.add_column("what to know", overflow="fold")
    for verdict in sorted(lines, key=lambda each: (_ORDER.index(each.status), each.name)):
        if not (quiet and verdict.status == "supported"):
            row = (verdict.name, _shorten(lines[verdict]), verdict.status, verdict.advice)
            table.add_row(*(each.replace("[", r"\[") for each in row), style=_STYLES[verdict.status])
    if table.row_count:
        console.print(table)
    total = f"{counts['supported']} supported, {counts['differs']} different, {counts['missing']} missing"
    advice = f" {PAGE}" if counts["missing"] or counts["differs"] else ""
    console.print(f"{source.path}: {total}.{advice}", style="bold", markup=False)
    return counts["missing"]


def _shorten(lines: list[str]) -> str:
    more = len(lines) - _LINES_SHOWN
    return ", ".join(lines[:_LINES_SHOWN]) + (f" and {more} more" if more > 0 else "")
