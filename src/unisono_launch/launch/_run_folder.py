"""The folder of a run: for logs, and for what the script stores."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from unisono_launch.launch._machines import Machines
from unisono_launch.launch._options import LaunchOptions, UsageError


def make_run_folder(options: LaunchOptions, machines: Machines, *, is_requeued: bool = False) -> Path:
    """Creates `--run-dir`, `runs/--name`, `runs/SCRIPT-JOB` (a step of SLURM) or `runs/SCRIPT-TIME`; an absolute path.

    The first two may exist. The third exists after a requeue, and the job continues from it. Otherwise a single machine
    takes another name if it exists: in an interactive step (`srun --pty bash`) each command is a run of its own.
    """
    if options.run_dir is not None:
        return _make_folder(Path(options.run_dir))
    if options.name is not None:
        return _make_folder(Path("runs", options.name))
    stem = script_stem(options.program)
    if not machines.is_single and machines.job_id is None:
        raise UsageError(
            "The machines of a job must agree on the name of its folder, and their clocks give different ones. "
            f"Add --name, on all of them the same, as in --name {stem}"
        )
    name = f"{stem}-{machines.job_id or time.strftime('%Y%m%d-%H%M%S')}"
    if machines.job_id is not None and (is_requeued or not machines.is_single):
        return _make_folder(Path("runs", name))
    for number in range(1, 1000):  # two jobs that start in the same second are two runs
        folder = Path("runs", name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            try:
                return _make_folder(folder, exist_ok=False)
            except FileExistsError:
                continue
    raise UsageError(f"runs/{name} and all names like it are taken. Give one: --name NAME")


def highest_attempt(run_dir: Path) -> int:
    """The highest number of an attempt that has logs in this folder; -1 if none has."""
    names = (path.name.removeprefix("attempt-") for path in (run_dir / "logs").glob("attempt-*"))
    return max((int(name) for name in names if name.isdecimal()), default=-1)


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
