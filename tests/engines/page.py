"""Writes docs/engines.md from what `pytest --engine-results=FILE` has left: FILE PAGE. `make test-engines` does both.

Of a scenario that was tried several times the last one counts.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

INTRODUCTION: Final = """# Engines: what was tried

`make test-engines` generates this page. It runs jobs on a real Ray cluster (several nodes simulated by Ray's own
`ray.cluster_utils.Cluster`), on a real SLURM cluster of two nodes, under a real `mpirun`, and under a real Kubernetes
control plane whose pods are processes, all on one machine, and disturbs them. *Bit-equal* means that the final weights
are the same as in an undisturbed job, to the last bit. For how to use an engine, see [ray.md](ray.md),
[slurm.md](slurm.md) and [kubernetes.md](kubernetes.md).
"""

ENGINES: Final = ("Ray", "SLURM", "Open MPI", "Kubernetes", "SkyPilot", "bucket mounts")


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The page. An engine of which nothing was tried is in it, as such."""
    tried = {(row["engine"], row["scenario"]): row for row in rows if "engine" in row}
    unknown = sorted({engine for engine, _ in tried} - set(ENGINES))
    if unknown:
        raise ValueError(f"Scenarios of unknown engines: {unknown}. The engines are {ENGINES}.")
    return "\n".join([INTRODUCTION, _versions(), *(_table(engine, tried) for engine in ENGINES)])


def _table(engine: str, tried: dict[tuple[str, str], dict[str, Any]]) -> str:
    rows = [row for (of, _), row in tried.items() if of == engine]
    lines = [f"| {row['scenario']} | {row['result'] if row['outcome'] == 'passed' else '**failed**'} |" for row in rows]
    body = ["| scenario | result |", "| --- | --- |", *lines] if lines else ["Not tried."]
    return f"## {engine[0].upper()}{engine[1:]}\n\n" + "\n".join(body) + "\n"


def _versions() -> str:
    packages = [f"{name} {_version(package)}" for name, package in (("Ray", "ray"), ("JAX", "jax"), ("Keras", "keras"))]
    commands = [_command_version("slurmd", "-V"), _command_version("mpirun", "--version")]  # sinfo needs a cluster
    machine = f"{platform.system()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return ", ".join([machine, *packages, *filter(None, commands)]) + ".\n"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"


def _command_version(command: str, flag: str) -> str:
    if shutil.which(command) is None:
        return ""
    output = subprocess.run([command, flag], capture_output=True, text=True, check=False).stdout
    return next(iter(output.splitlines()), "").replace("mpirun (Open MPI)", "Open MPI").replace("slurm-wlm", "SLURM")


def main(results: Path, target: Path) -> None:
    target.write_text(page([json.loads(line) for line in results.read_text().splitlines()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
