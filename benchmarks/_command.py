"""The command line shared by all benchmarks: select cases, measure, print, store, check."""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from _cases import UNISONO, Case
from _environments import HERE, Environments, Program
from _measure import Result, measure
from _table import Form, markdown, passes, report

RESULTS = HERE / "results"
SAVED = RESULTS / "saved"
_BEGAN = time.monotonic()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Cases that are measured and shown in the same way.

    Attributes:
        cases: what can be measured.
        programs: how each contender is started.
        form: what is shown.
        data: a short name of the input of a case.
        prefix: begins the names of the files with the results.
        title: stands above the table of a command that has several benchmarks.
        prepare: makes the files that a case reads, or reads those that it needs from disk.
    """

    cases: tuple[Case, ...]
    programs: Mapping[str, Program]
    form: Form
    data: Callable[[Case], str]
    prefix: str = ""
    title: str = ""
    prepare: Callable[[Case], None] = lambda _: None


def main(description: str, *benchmarks: Benchmark) -> int:
    """Measures, prints and stores, or only prints; returns the exit code."""
    arguments = _parse(description, [case for benchmark in benchmarks for case in benchmark.cases])
    folder = SAVED if arguments.save else RESULTS
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that contenders are ended as well
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    passed = True
    for benchmark in benchmarks:
        cases = [case for case in benchmark.cases if case.name in arguments.cases]
        paths = {case.name: folder / f"{benchmark.prefix}{case.name}.json" for case in cases}
        if not arguments.markdown:
            passed &= _measure_all(benchmark, cases, paths, arguments)
        elif results := [load(path) for path in paths.values() if path.exists()]:
            heading = f"### {benchmark.title}\n\n" if len(benchmarks) > 1 else ""
            print(heading + markdown(results, benchmark.form) + "\n")
    return 1 if arguments.check and not passed else 0


def load(path: Path) -> Result:
    """The result of a case that was stored."""
    return Result.from_dict(json.loads(path.read_text()))


def _measure_all(
    benchmark: Benchmark, cases: Sequence[Case], paths: Mapping[str, Path], arguments: argparse.Namespace
) -> bool:
    """Measures, prints and stores all cases; returns whether `--check` finds nothing."""
    environments = Environments(
        programs=benchmark.programs,
        shared=arguments.same_env or any(case.workload.platform == "gpu" for case in cases),
        paths=tuple(path.resolve() for path in arguments.path),
        stored_programs=arguments.stored_programs,
    )
    passed, results = True, []
    for case in (_among(case, arguments.contenders) for case in cases):
        benchmark.prepare(case)
        results.append(
            measure(
                case,
                environments,
                data=benchmark.data(case),
                rounds=arguments.rounds,
                warm_up=arguments.warm_up,
                say=_say,
            )
        )
        _say("")
        saved = SAVED / paths[case.name].name
        before = load(saved) if saved.exists() else None
        _store(results[-1], paths[case.name])
        print(report(case, results[-1], benchmark.form, before) + "\n", flush=True)
        passed &= passes(case, results[-1], before)
    if summary := benchmark.form.summary(results):
        print(summary + "\n", flush=True)
    return passed


def _parse(description: str, cases: Sequence[Case]) -> argparse.Namespace:
    """Parses and checks the arguments. `cases` are the named ones, or else all for the chosen kind of device."""
    platforms = {case.workload.platform for case in cases}
    parser = argparse.ArgumentParser(
        description=description.replace("```\n", ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(case.name for case in cases)}")
    if len(platforms) > 1:
        parser.add_argument("--gpu", action="store_true", help="the cases for the GPU, which imply --same-env")
    parser.add_argument("--rounds", type=int, default=15, help="counted rounds (15)")
    parser.add_argument("--warm-up", type=int, default=2, help="rounds before them (2)")
    parser.add_argument("--contenders", nargs="+", metavar="NAME", help="only these, and Unisono")
    parser.add_argument("--same-env", action="store_true", help="all contenders use this interpreter")
    parser.add_argument(
        "--path", type=Path, action="append", default=[], help="a folder that all contenders can import from"
    )
    parser.add_argument(
        "--stored-programs",
        action="store_true",
        help="keep compiled programs in .cache/, and use those of earlier runs",
    )
    parser.add_argument("--save", action="store_true", help="use results/saved/, which is committed, not results/")
    parser.add_argument("--markdown", action="store_true", help="measure nothing; print the stored results")
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 1 if a ratio is worse than saved, or a target is missed that was met",
    )
    arguments = parser.parse_args()
    _check_known(parser, "case", arguments.cases, [case.name for case in cases])
    contenders = dict.fromkeys(name for case in cases for name in case.contenders)
    _check_known(parser, "contender", arguments.contenders or [], list(contenders))
    if arguments.rounds < 1 or arguments.warm_up < 1:
        parser.error("--rounds and --warm-up are at least 1: the first round of every contender compiles.")
    if not arguments.cases:
        if len(platforms) > 1 and (arguments.gpu or not arguments.markdown):
            platforms = {"gpu" if arguments.gpu else "cpu"}
        arguments.cases = [case.name for case in cases if case.workload.platform in platforms]
    return arguments


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
    """Shows a status line in a terminal; elsewhere a line with the seconds since the start."""
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)
    elif what:
        print(f"{time.monotonic() - _BEGAN:6.1f} s  {what}", file=sys.stderr, flush=True)


def _store(result: Result, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result.to_dict(), indent=1) + "\n")
