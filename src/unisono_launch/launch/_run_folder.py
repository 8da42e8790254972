"""The folder of a run: for logs, and for what the script stores."""

from __future__ import annotations

import glob
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from unisono_launch.launch._machines import Machines
from unisono_launch.launch._options import LaunchOptions, UsageError

# Followed by the number of requeues before: says which command of a job of SLURM has used the folder since.
_MARK: Final = ".slurm-start-"


def make_run_folder(options: LaunchOptions, machines: Machines, *, num_requeues: int = 0) -> Path:
    """Creates `--run-dir`, `runs/--name`, `runs/SCRIPT-JOB` (a step of SLURM) or `runs/SCRIPT-TIME`; an absolute path.

    The first two may exist, and the third on several machines. On a single one, each command of a step is a run of its
    own (`srun --pty bash`, a loop over learning rates), with another name if that is taken; after a requeue, it
    continues in the folder of the same command.
    """
    if options.run_dir is not None:
        return _make_folder(Path(options.run_dir))
    if options.name is not None:
        return _make_folder(Path("runs", options.name))
    stem = script_stem(options.program)
    if machines.job_id is None:
        if not machines.is_single:
            raise UsageError(
                "The machines of a job must agree on the name of its folder, and their clocks give different ones. "
                f"Add --name, on all of them the same, as in --name {stem}"
            )
        return _make_new_folder(f"{stem}-{time.strftime('%Y%m%d-%H%M%S')}")
    if not machines.is_single:
        return _make_folder(Path("runs", f"{stem}-{machines.job_id}"))
    return _make_folder_of_step(stem, machines.job_id, options.program, num_requeues)


def highest_attempt(run_dir: Path) -> int:
    """The highest number of an attempt that has logs in this folder; -1 if none has."""
    names = (path.name.removeprefix("attempt-") for path in (run_dir / "logs").glob("attempt-*"))
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def script_stem(program: Sequence[str]) -> str:
    """The name of a script without its ending, or the last part of a module's name."""
    return program[1].rpartition(".")[2] if program[0] == "-m" else Path(program[0]).stem


def _make_folder_of_step(stem: str, step: str, program: Sequence[str], num_requeues: int) -> Path:
    """A new folder; after a requeue, the one of this command that no other process has taken since."""
    name, mark = f"{stem}-{step}", json.dumps(list(program))
    found = _find_folders_of_job(f"{stem}-{step.partition('.')[0]}", name) if num_requeues else []
    is_first = not any((folder / f"{_MARK}{num_requeues}").exists() for folder in found)
    for folder in found:
        if any(file.read_text() == mark for file in folder.glob(f"{_MARK}*")) and _mark(folder, mark, num_requeues):
            return folder.resolve()
    folder = _make_new_folder(name)
    _mark(folder, mark, num_requeues)
    if found and is_first:
        print(
            f"unisono: SLURM has requeued this job, and {found[0]} is of a command with other arguments. This one "
            f"starts anew in runs/{folder.name}. If its arguments differ each time, give it a name: "
            f"--name {stem}-$SLURM_JOB_ID",
            file=sys.stderr,
        )
    return folder


def _find_folders_of_job(base: str, name: str) -> list[Path]:
    """Those of the step that is called `name` first, but of all steps: their numbers may be others after a requeue,
    where they start side by side, or one is left out."""

    def preference(folder: Path) -> tuple[bool, int, str]:
        is_of_step = folder.name == name or folder.name.startswith(f"{name}-")
        return not is_of_step, len(folder.name), folder.name  # -10 after -9

    found = Path("runs").glob(f"{glob.escape(base)}*")
    return sorted((folder for folder in found if folder.name[len(base) :][:1] in ("", "-", ".")), key=preference)


def _mark(folder: Path, mark: str, num_requeues: int) -> bool:
    """Takes a folder for this command until the next requeue; False if another process was faster."""
    try:
        with (folder / f"{_MARK}{num_requeues}").open("x") as file:
            file.write(mark)
    except FileExistsError:
        return False
    except OSError as error:
        raise UsageError(f"The folder of the run takes no files: {error}. Name another: --run-dir DIR") from None
    return True


def _make_new_folder(name: str) -> Path:
    for number in range(1, 1000):  # two jobs that start in the same second are two runs
        folder = Path("runs", name if number == 1 else f"{name}-{number}")
        if not folder.exists():
            try:
                return _make_folder(folder, exist_ok=False)
            except FileExistsError:
                continue
    raise UsageError(f"runs/{name} and all names like it are taken. Give one: --name NAME")


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
