"""The engines that `unisono run --on` can reach from here."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Final

from unisono_launch._install_command import install_command
from unisono_launch.doctor._finding import Finding
from unisono_launch.doctor._requirements import installed_version

NAME = "engines"

# The command that submits a job, and where to type the job if it is not here.
_COMMANDS: Final = {
    "slurm": ("sbatch", "type the job on a login node"),
    "kubernetes": ("kubectl", "--dry-run prints the manifest"),
}


def check_engines(environ: Mapping[str, str]) -> Finding:
    """Which engines there are. None of them is needed to train; Ray is not imported, and nothing is connected to."""
    ray = installed_version("ray")
    lines = [f"ray: {ray}" if ray else f"ray: not installed ({install_command('ray')})"]
    facts: dict[str, str | None] = {"ray": ray}
    for engine, (command, advice) in _COMMANDS.items():
        path = shutil.which(command, path=environ.get("PATH"))
        facts[engine] = path
        lines.append(f"{engine}: {path or f'no {command} on the PATH ({advice})'}")
    reachable = [engine for engine, found in facts.items() if found]
    summary = f"unisono run --on {' | '.join(reachable)}" if reachable else "this machine only"
    return Finding(NAME, "ok", "\n".join([summary, *lines]), None, facts)
