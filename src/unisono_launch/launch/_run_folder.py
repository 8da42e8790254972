"""The folder of a run: for logs, and for what the script stores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from unisono_launch.launch._machines import Machines
from unisono_launch.launch._options import RunOptions, UsageError


def make_run_folder(options: RunOptions, machines: Machines) -> Path:
    """Creates `--run-dir`, `runs/--name`, or `runs/SCRIPT-TIME`; an absolute path. The first two may exist."""
    if options.run_dir is not None:
        return _make_folder(Path(options.run_dir))
    if options.name is not None:
        return _make_folder(Path("runs", options.name))
    stem = script_stem(options.program)
    if not machines.is_single:
        if machines.job_id is None:
            raise UsageError(
                "The machines of a job must agree on the name of its folder, and their clocks give different ones. "
                f"Add --name, on all of them the same, as in --name {stem}"
            )
        return _make_folder(Path("runs", f"{stem}-{machines.job_id}"))
    name = f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    for number in range(1, 1000):  # two jobs that start in the same second are two runs
        folder = Path("runs", name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            try:
                return _make_folder(folder, exist_ok=False)
            except FileExistsError:
                continue
    raise UsageError(f"runs/{name} and all names like it are taken. Give one: --name NAME")


def script_stem(program: Sequence[str]) -> str:
    """The name of a script without its ending, or the last part of a module's name."""
    return program[1].rpartition(".")[2] if program[0] == "-m" else Path(program[0]).stem


def _make_folder(folder: Path, *, exist_ok: bool = True) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=exist_ok)
    except FileExistsError:
        if not exist_ok:
            raise
        raise UsageError(f"{folder} is a file, and the run needs a folder there. Name another: --run-dir DIR") from None
    except OSError as error:
        raise UsageError(f"The folder of the run cannot be created: {error}. Name another: --run-dir DIR") from None
    return folder.resolve()
