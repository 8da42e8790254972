"""Which interpreter, paths and variables each contender runs with.

Unisono runs in the environment that runs this file. The other contenders have their own environments under `.venvs/`,
created on first use, so that no contender's process contains Unisono or the packages of another one. Where none can be
created (a GPU machine without a package index), all share one interpreter and the folders given with `--path`.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from _cases import UNISONO, Work

HERE = Path(__file__).parent
PROJECT = HERE.parent
VENVS = HERE / ".venvs"
PROGRAMS = HERE / ".cache" / "programs"
PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}"

# Variables of the shell that would change what a contender imports or how it computes.
_DROPPED = ("JAX_NUM_CPU_DEVICES", "NPROC", "PYTHONHOME", "PYTHONPATH", "UNISONO_CPU_DEVICES", "XLA_FLAGS")

# The first round compiles, and later processes do it again; start.py measures what a cache saves.
_NOT_STORED = {"JAX_ENABLE_COMPILATION_CACHE": "false", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
# Programs of every size.
_STORED = {
    "JAX_ENABLE_COMPILATION_CACHE": "true",
    "JAX_COMPILATION_CACHE_DIR": str(PROGRAMS / "jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    "TORCHINDUCTOR_CACHE_DIR": str(PROGRAMS / "torch"),
}


@dataclass(frozen=True, kw_only=True)
class Program:
    """How one contender is started.

    Attributes:
        module: what `python -m` runs.
        environment: the requirements of its virtual environment; None for the one that runs this file.
        keras_backend: `KERAS_BACKEND`, if it uses Keras.
        paths: folders that it alone can import from.
    """

    module: str
    environment: str | None
    keras_backend: str | None = None
    paths: tuple[Path, ...] = ()


def unisono_program(module: str) -> Program:
    """A program that may import Unisono."""
    return Program(module=module, environment=None, keras_backend="jax", paths=(PROJECT / "src",))


@dataclass(frozen=True, kw_only=True)
class Environments:
    """Where contenders run: each in its own environment, or all in this one.

    Args:
        programs: the program of each contender.
        shared: use the current interpreter for all of them.
        paths: folders that all of them can import from.
        stored_programs: keep compiled programs for later processes, and use those of earlier ones.
    """

    programs: Mapping[str, Program]
    shared: bool = False
    paths: tuple[Path, ...] = ()
    stored_programs: bool = False

    def command(self, contender: str, workload: Work) -> list[str]:
        """The command line; creates the environment if it does not exist."""
        program = self.programs[contender]
        own = program.environment is not None and not self.shared
        interpreter = _interpreter(program.environment) if own else sys.executable  # type: ignore[arg-type]
        return [interpreter, "-m", program.module, workload.to_json()]

    def variables(self, contender: str, workload: Work) -> dict[str, str]:
        """The environment variables."""
        program = self.programs[contender]
        variables = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        variables["PYTHONPATH"] = os.pathsep.join(map(str, (*program.paths, *self.paths)))
        variables["TF_CPP_MIN_LOG_LEVEL"] = "2"
        variables |= _STORED if self.stored_programs else _NOT_STORED
        if program.keras_backend:
            variables["KERAS_BACKEND"] = program.keras_backend
        if workload.platform == "gpu":
            variables["XLA_PYTHON_CLIENT_MEM_FRACTION"] = "0.2"  # several processes share the GPU
        else:
            variables["JAX_PLATFORMS"] = "cpu"
            devices = workload.devices_per_process
            if contender != UNISONO and devices > 1:  # Unisono sets both by itself
                variables["JAX_NUM_CPU_DEVICES"] = str(devices)
                variables["NPROC"] = str(max(2 * devices, os.cpu_count() or 1))
        return variables


def _interpreter(environment: str) -> str:
    """The Python of a virtual environment under `.venvs/`, which is created or updated first."""
    requirements = _requirements(environment)
    folder = VENVS / f"{environment}-{PYTHON}"
    python, stamp = folder / "bin" / "python", folder / "installed"
    wanted = hashlib.sha256(requirements.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"Installing {folder.relative_to(PROJECT)} (once)", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        listed = folder / "requirements.txt"
        listed.write_text(requirements)
        pip = [str(python), "-m", "pip", "--quiet", "--quiet", "--disable-pip-version-check", "--no-input"]
        subprocess.run([*pip, "install", "-r", listed], check=True)
        stamp.write_text(wanted)
    return str(python)


def _requirements(environment: str) -> str:
    """The requirements file, with the version and hashes of the project's lock file for each bare name."""
    lock = PROJECT / "requirements" / f"lock-{PYTHON}.txt"
    locked = {entry.split("==")[0]: entry for entry in re.split(r"\n(?=\S)", lock.read_text())}
    lines = (HERE / f"requirements-{environment}.txt").read_text().splitlines()
    return "\n".join(locked.get(line, line) for line in lines) + "\n"
