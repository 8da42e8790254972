"""The command line shared by all benchmarks: select cases, measure, print, store, check."""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from _cases import UNISONO, Case
from _environments import HERE, Environments
from _measure import Result, measure
from _table import Form, markdown, met, report

RESULTS = HERE / "results"


def new_parser(description: str, cases: Sequence[Case]) -> argparse.ArgumentParser:
    """A parser for the arguments of every benchmark."""
    parser = argparse.ArgumentParser(
        description=description.replace("```\n", ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(case.name for case in cases)}")
    parser.add_argument("--rounds", type=int, default=15, help="counted rounds (15)")
    parser.add_argument("--warm-up", type=int, default=2, help="rounds before them (2)")
    parser.add_argument("--contenders", nargs="+", metavar="NAME", help="only these, and Unisono")
    parser.add_argument("--save", action="store_true", help="use results/saved/, which is committed, not results/")
    parser.add_argument("--markdown", action="store_true", help="measure nothing; print the stored results")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target was missed")
    return parser


def parse(parser: argparse.ArgumentParser, cases: Sequence[Case]) -> argparse.Namespace:
    """Parses and checks the arguments. `cases` is empty if none were named."""
    arguments = parser.parse_args()
    _check_known(parser, "case", arguments.cases, [case.name for case in cases])
    contenders = dict.fromkeys(name for case in cases for name in case.contenders)
    _check_known(parser, "contender", arguments.contenders or [], list(contenders))
    if arguments.rounds < 1 or arguments.warm_up < 1:
        parser.error("--rounds and --warm-up are at least 1: the first round of every contender compiles.")
    return arguments


def run(
    cases: Sequence[Case],
    arguments: argparse.Namespace,
    *,
    environments: Environments,
    form: Form,
    data: Callable[[Case], str],
    prefix: str = "",
) -> int:
    """Measures, prints and stores, or only prints; returns the exit code.

    Args:
        cases: the selected ones.
        arguments: from :func:`parse`.
        environments: where contenders run.
        form: what is shown.
        data: a short name of the input of a case.
        prefix: begins the names of the files with the results.
    """
    folder = RESULTS / "saved" if arguments.save else RESULTS
    paths = {case.name: folder / f"{prefix}{case.name}.json" for case in cases}
    if arguments.markdown:
        print(markdown([_load(path) for path in paths.values() if path.exists()], form))
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that contenders are ended as well
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    all_met = True
    for case in (_among(case, arguments.contenders) for case in cases):
        result = measure(
            case, environments, data=data(case), rounds=arguments.rounds, warm_up=arguments.warm_up, say=_say
        )
        _say("")
        _store(result, paths[case.name])
        print(report(case, result, form) + "\n", flush=True)
        all_met &= all(met(target, result) for target in case.targets)
    return 1 if arguments.check and not all_met else 0


def _check_known(parser: argparse.ArgumentParser, what: str, given: list[str], known: list[str]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        parser.error(f"no such {what}: {', '.join(unknown)}. There are {', '.join(known)}.")


def _among(case: Case, names: list[str] | None) -> Case:
    if not names:
        return case
    return dataclasses.replace(
        case,
        contenders=tuple(name for name in case.contenders if name in (UNISONO, *names)),
        targets=tuple(target for target in case.targets if target.opponent in names),
    )


def _say(what: str) -> None:
    """Shows a status line, if stderr is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def _store(result: Result, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result.to_dict(), indent=1) + "\n")


def _load(path: Path) -> Result:
    values: dict[str, Any] = json.loads(path.read_text())
    return Result.from_dict(values)
