"""The contender's side of the conversation: build once, then one round for every line on stdin.

    contender -> ready      {"about": {"jax": "0.10.2", ...}}
    run.py    -> "round"
    contender -> a round    {"seconds": 0.21, "cpu_seconds": 0.39, "loss": 0.43, "accuracy": 0.88}
    ...
    run.py    -> end of file, and the contender exits

Answers are lines of JSON on the stdout that the process was started with. Whatever else is printed goes to stderr.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from _cases import Workload

# Trains one round and returns (loss, accuracy) of its last epoch as Python numbers, so that nothing is still running.
Train = Callable[[], tuple[float, float]]

_REPORTED = ("jax", "keras", "tensorflow-cpu", "torch")


def serve(contender: Callable[[Workload], Train]) -> None:
    """Runs a contender as the process's whole life; the workload is the one argument."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**message: Any) -> None:
        print(json.dumps(message), file=answers, flush=True)

    train = contender(Workload.from_json(sys.argv[1]))
    answer(about=_about())
    while sys.stdin.readline():
        began, cpu_began = time.perf_counter(), time.process_time()
        loss, accuracy = train()
        seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
        answer(seconds=seconds, cpu_seconds=cpu_seconds, loss=float(loss), accuracy=float(accuracy))


def _about() -> dict[str, str]:
    about = {"python": platform.python_version()}
    for name in _REPORTED:
        if name.removesuffix("-cpu") in sys.modules:
            try:
                about[name] = metadata.version(name)
            except metadata.PackageNotFoundError:  # a folder of unzipped wheels without their metadata
                about[name] = str(getattr(sys.modules[name], "__version__", "?"))
    if "jax" in sys.modules:
        about["on"] = sys.modules["jax"].devices()[0].device_kind
    return about
