"""How fast is `fit`? Unisono and others train in turns, and their times are compared round by round.

```
run.py                      all cases for the CPU
run.py mlp-1 --rounds 5     one case, shorter
run.py --gpu --path DIR     the cases for the GPU, with this interpreter and the packages unzipped in DIR
run.py --markdown           the table for the README, of what was measured last
```
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
from pathlib import Path
from typing import Any

from _cases import CASES, UNISONO, Case
from _environments import HERE, PROGRAMS, Environments
from _measure import Result, measure
from _table import markdown, met, report

RESULTS = HERE / "results"


def main() -> int:
    """Measures, prints and stores; returns the exit code."""
    arguments = _arguments()
    chosen = [case for case in CASES if case.name in arguments.cases]
    folder = RESULTS / "saved" if arguments.save else RESULTS
    if arguments.markdown:
        print(markdown([_load(path) for case in chosen if (path := folder / f"{case.name}.json").exists()]))
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):  # so that contenders are ended then, too
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    on_gpu = any(case.workload.platform == "gpu" for case in chosen)
    environments = Environments(shared=arguments.same_env or on_gpu, paths=tuple(arguments.path))
    all_met = True
    for case in (_among(case, arguments.contenders) for case in chosen):
        result = measure(case, environments, rounds=arguments.rounds, warm_up=arguments.warm_up, say=_say)
        _say("")
        _store(result, folder / f"{case.name}.json")
        print(report(case, result) + "\n", flush=True)
        all_met &= all(met(target, result) for target in case.targets)
    return 1 if arguments.check and not all_met else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.replace("```\n", ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    names = [case.name for case in CASES]
    parser.add_argument("cases", nargs="*", metavar="case", help=f"of {', '.join(names)}")
    parser.add_argument("--gpu", action="store_true", help="the cases for the GPU, which imply --same-env")
    parser.add_argument("--rounds", type=int, default=15, help="rounds that count (15)")
    parser.add_argument("--warm-up", type=int, default=2, help="rounds before them (2)")
    parser.add_argument("--contenders", nargs="+", metavar="NAME", help="only these, and Unisono")
    parser.add_argument("--same-env", action="store_true", help="all contenders use this interpreter")
    parser.add_argument("--path", type=Path, action="append", default=[], help="a folder that all can import from")
    parser.add_argument("--save", action="store_true", help="use results/saved/, which is committed, not results/")
    parser.add_argument("--markdown", action="store_true", help="measure nothing; print what was stored")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target was missed")
    arguments = parser.parse_args()
    _check_known(parser, "case", arguments.cases, names)
    _check_known(parser, "contender", arguments.contenders or [], list(PROGRAMS))
    if arguments.rounds < 1 or arguments.warm_up < 1:
        parser.error("--rounds and --warm-up are at least 1: the first round of every contender compiles.")
    if not arguments.cases:
        platforms = ("cpu", "gpu") if arguments.markdown else ("gpu",) if arguments.gpu else ("cpu",)
        arguments.cases = [case.name for case in CASES if case.workload.platform in platforms]
    arguments.path = [path.resolve() for path in arguments.path]
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
    """One line that is written over, and only where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def _store(result: Result, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result.to_dict(), indent=1) + "\n")


def _load(path: Path) -> Result:
    values: dict[str, Any] = json.loads(path.read_text())
    return Result.from_dict(values)


if __name__ == "__main__":
    sys.exit(main())
