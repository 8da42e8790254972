"""The command `unisono run`: on this machine, or with `--on` on the machines of an engine."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from typing import Final

from unisono_launch.launch import UsageError, report_errors, run_here, take_engine

# Each has a function `submit(arguments)` that returns the exit code. Imported when it is asked for: Ray takes a second.
_ENGINES: Final = {
    "ray": "unisono_launch.engines.ray",
    "slurm": "unisono_launch.engines.slurm",
    "kubernetes": "unisono_launch.engines.kubernetes",
}


def run(arguments: Sequence[str]) -> int:
    """Runs the command with the arguments after `unisono run`; returns the exit code."""
    return report_errors(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    engine, own = take_engine(arguments)
    if engine is None:
        return run_here(own)
    if engine not in _ENGINES:
        near = difflib.get_close_matches(engine, _ENGINES, 1) or ["slurm"]
        raise UsageError(f"--on {engine}: the engines are {', '.join(_ENGINES)}. Type, for instance: --on {near[0]}")
    code: int = importlib.import_module(_ENGINES[engine]).submit(own)
    return code
