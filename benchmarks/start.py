"""How long does a program take to start? Imports, and the time until the end of the first training step.

```
start.py                          imports, and the MLP on a CPU
start.py resnet50 gpt2 --path DIR  large models on a GPU, with the packages unzipped in DIR
start.py --markdown               the table from the last measurement
```

Every measurement is a process of its own. Contenders alternate, and the median of all rounds counts. Stock Keras and
Unisono run in the same environment. Unisono stores compiled programs of a GPU for later processes: "programs stored" is
a process that finds them, every other one starts with an empty folder.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "results"
ON_GPU = ("resnet50", "gpt2")

# At most this many times as long as stock Keras, to the end of the last stage.
TARGETS = {
    ("import", "unisono"): 1.15,
    ("import", "unisono.tf"): 1.15,
    ("resnet50", "unisono"): 1.0,
    ("resnet50", "unisono, programs stored"): 1.0,
    ("gpt2", "unisono"): 1.0,
    ("gpt2", "unisono, programs stored"): 1.0,
}


class Contender(NamedTuple):
    """What is imported, and whether it finds its compiled programs."""

    library: str
    stored: bool = False

    @property
    def name(self) -> str:
        return f"{self.library}, programs stored" if self.stored else self.library


def contenders(case: str) -> list[Contender]:
    """Stock Keras first: the others are relative to it."""
    if case == "import":
        return [Contender("keras"), Contender("unisono"), Contender("unisono.tf")]
    found = [Contender("keras"), Contender("unisono")]
    return [*found, Contender("unisono", stored=True)] if case in ON_GPU else found


def start(contender: Contender, case: str, paths: list[Path], stored: str) -> dict[str, Any]:
    """Runs one process; returns what it measured."""
    with tempfile.TemporaryDirectory() as empty:
        variables = os.environ | {
            "KERAS_BACKEND": "jax",
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "XDG_CACHE_HOME": stored if contender.stored else empty,
            "PYTHONPATH": os.pathsep.join(map(str, [HERE, HERE.parent / "src", *paths])),
        }
        if case not in ON_GPU:
            variables["JAX_PLATFORMS"] = "cpu"
        network = "none" if case == "import" else case
        command = [sys.executable, HERE / "contenders" / "start.py", contender.library, network]
        output = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(output.splitlines()[-1])


def measure(case: str, rounds: int, paths: list[Path]) -> dict[str, Any]:
    """All contenders in turn, ``rounds`` times, after one round that fills the caches of the disk."""
    found: dict[str, list[dict[str, Any]]] = {each.name: [] for each in contenders(case)}
    with tempfile.TemporaryDirectory() as stored:
        for number in range(rounds + 1):
            for each in contenders(case):
                result = start(each, case, paths, stored)
                about = result.pop("about")
                if number:
                    found[each.name].append(result)
                print(f"{case}, round {number}: {each.name} {result}", file=sys.stderr)
    return {
        "case": case,
        "measured": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "about": {"python": platform.python_version()} | about,
        "rounds": found,
    }


def markdown(results: list[dict[str, Any]]) -> str:
    """The table, of medians and the median of the ratios to stock Keras in a round; and how it was measured."""
    lines = [
        "| case | | import, s | model made, s | first step done, s | relative to Keras |",
        "|---|---|---|---|---|---|",
    ]
    for result in results:
        rounds = result["rounds"]
        for name, own in rounds.items():
            stages = [
                f"{statistics.median(each['seconds'][stage] for each in own):.2f}" if stage in own[0]["seconds"] else ""
                for stage in ("import", "model", "first step")
            ]
            lines.append(f"| {result['case']} | {name} | {' | '.join(stages)} | {_ratio(result, name):.2f} |")
    return "\n".join([*lines, "", *map(_caption, results)])


def _caption(result: dict[str, Any]) -> str:
    rounds = len(result["rounds"]["keras"])
    versions = ", ".join(f"{what} {value}" for what, value in result.get("about", {}).items()) or "versions not saved"
    return (
        f"- {result['case']}: {rounds} round{'' if rounds == 1 else 's'} of one process each; "
        f"{result['machine']}; {versions}; {result['measured']}"
    )


def _ratio(result: dict[str, Any], name: str) -> float:
    """The median of the ratios to stock Keras in a round."""
    rounds = result["rounds"]
    return statistics.median(_last(one) / _last(two) for one, two in zip(rounds[name], rounds["keras"], strict=True))


def _misses(result: dict[str, Any]) -> dict[str, str]:
    """The contenders that take longer than their target allows, and how long they take."""
    return {
        name: f"{case}: {name} takes {_ratio(result, name):.3f} times as long as keras, the target is {limit:g}"
        for (case, name), limit in TARGETS.items()
        if case == result["case"] and name in result["rounds"] and _ratio(result, name) > limit
    }


def _last(measured: dict[str, Any]) -> float:
    """The end of the last stage. Of an import the time of the cores: it is less disturbed by what else is running."""
    if len(measured["seconds"]) == 1:
        return float(measured["import_cpu_seconds"])
    return float(measured["seconds"]["first step"])


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", choices=[[], "import", "mlp", *ON_GPU], help="import and mlp by default")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each contender (5)")
    parser.add_argument("--path", type=Path, action="append", default=[], help="a folder to import from")
    parser.add_argument("--save", action="store_true", help="use results/saved/, which is committed, not results/")
    parser.add_argument("--markdown", action="store_true", help="measure nothing; print the stored results")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed that was met")
    arguments = parser.parse_args()
    stored = RESULTS / "saved" if arguments.save else RESULTS
    if arguments.markdown:
        paths = [stored / f"start-{case}.json" for case in arguments.cases] or sorted(stored.glob("start-*.json"))
        print(markdown([json.loads(path.read_text()) for path in paths if path.exists()]))
        return 0
    new_misses = []
    for case in arguments.cases or ["import", "mlp"]:
        result = measure(case, arguments.rounds, [path.resolve() for path in arguments.path])
        saved = RESULTS / "saved" / f"start-{case}.json"
        known = _misses(json.loads(saved.read_text())) if saved.exists() else {}
        for name, miss in _misses(result).items():
            print(miss + (", as in the saved result" if name in known else ""), file=sys.stderr)
            new_misses += [] if name in known else [miss]
        stored.mkdir(parents=True, exist_ok=True)
        (stored / f"start-{case}.json").write_text(json.dumps(result, indent=1) + "\n")
        print(markdown([result]))
    return 1 if arguments.check and new_misses else 0


if __name__ == "__main__":
    sys.exit(main())
