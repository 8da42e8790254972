"""The contender's side of the protocol: build once, then run one round for every line on stdin.

    contender -> ready      {"about": {"jax": "0.10.2", ...}}
    run.py    -> "round"
    contender -> a round    {"seconds": 0.21, "cpu_seconds": 0.39, "loss": 0.43, "accuracy": 0.88}
    ...                     (loss and accuracy if it trains)
    run.py    -> end of file, and the contender exits

Answers are lines of JSON on the original stdout of the process. All other output goes to stderr.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from importlib import metadata
from multiprocessing import active_children
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from _cases import Workload

# Trains one round and returns (loss, accuracy) of its last epoch as Python numbers, so that nothing is still running.
Train = Callable[[], tuple[float, float]]

# Runs one round, and returns its results besides the time.
Round = Callable[[], dict[str, float]]

# Packages whose versions are reported if their module is imported.
_REPORTED = {
    "jax": "jax",
    "keras": "keras",
    "tensorflow-cpu": "tensorflow",
    "torch": "torch",
    "grain": "grain",
    "pillow": "PIL",
}


def serve(contender: Callable[[Workload], Train]) -> None:
    """Runs a contender that trains; the workload is the only argument of the process."""

    def build() -> Round:
        train = contender(Workload.from_json(sys.argv[1]))

        def one_round() -> dict[str, float]:
            loss, accuracy = train()
            return {"loss": float(loss), "accuracy": float(accuracy)}

        return one_round

    serve_rounds(build)


def serve_rounds(build: Callable[[], Round]) -> None:
    """Runs a contender until stdin is closed."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**message: Any) -> None:
        print(json.dumps(message), file=answers, flush=True)

    one_round = build()
    answer(about=_about())
    while sys.stdin.readline():
        began, cpu_began = time.perf_counter(), _cpu_seconds()
        found = one_round()
        seconds, cpu_seconds = time.perf_counter() - began, _cpu_seconds() - cpu_began
        answer(seconds=seconds, cpu_seconds=cpu_seconds, **found)


def _cpu_seconds() -> float:
    """CPU time of this process and of the worker processes it started."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + sum(map(_of_living, active_children()))


def _of_living(child: BaseProcess) -> float:
    """CPU time of a running child from /proc; 0 on systems without it."""
    try:
        fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _about() -> dict[str, str]:
    about = {"python": platform.python_version()}
    for name, module in _REPORTED.items():
        if module in sys.modules:
            try:
                about[name] = metadata.version(name)
            except metadata.PackageNotFoundError:  # a folder of unzipped wheels without their metadata
                about[name] = str(getattr(sys.modules[module], "__version__", "?"))
    if "jax" in sys.modules:
        about["on"] = sys.modules["jax"].devices()[0].device_kind
    return about
