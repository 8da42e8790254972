"""`fit(resume=...)`: where the checkpoints of a run are, and when they are written."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from unisono._src.core import read_environment
from unisono._src.devices import remove_unused_folders, user_cache_folder
from unisono._src.state.checkpoint import EverySeconds, SavePolicy
from unisono._src.state.store import Location, to_location
from unisono._src.training.callbacks import BackupAndRestore

_SECONDS: Final = 30.0

_DAYS_KEPT: Final = 90

NO_RUN = """resume=True, or a unisono.Resume without a folder, means the folder of the run that `unisono run` made, and
this process was not started by it. Start it with `unisono run --run-dir runs/NAME script.py`, or name the folder:
resume="runs/NAME"."""

TWICE = """Both resume={resume!r} and a BackupAndRestore callback were given. They do the same: leave one out."""

NOT_A_FOLDER = """resume={resume!r}. Expected a folder such as "runs/mnist" or a unisono.Resume. For the folder that
`unisono run` made: resume=True, or a Resume without a folder, unisono.Resume(keep=3)."""


@dataclass(frozen=True)
class Resume:
    """How a `fit` is checkpointed: `model.fit(..., resume=Resume("runs/mnist", policy=EverySteps(500)))`.

    Attributes:
        directory: the run folder, or a URL such as "gs://bucket/runs/mnist". A new `fit` with the same folder, for
            example after a crash, resumes from the last checkpoint. None: the folder of `unisono run`, as with
            `resume=True`.
        policy: when to save; every 30 seconds by default.
        keep: how many of the newest checkpoints to keep.
        delete_at_end: whether to delete them when training has finished.

    >>> from unisono.checkpoint import AnyOf, Best, EverySteps
    >>> Resume("runs/mnist", policy=AnyOf(EverySteps(500), Best("val_loss")), keep=3).policy.every
    500
    """

    directory: str | os.PathLike[str] | None = None
    policy: SavePolicy = field(default_factory=lambda: EverySeconds(_SECONDS))
    keep: int = 2
    delete_at_end: bool = False

    def __post_init__(self) -> None:
        if self.directory is not None:
            to_location(_require_folder(self.directory))  # raises if the package for this URL is missing
        if not isinstance(self.policy, SavePolicy):
            raise TypeError(f"policy is a unisono.checkpoint.SavePolicy, as EverySeconds(30); got {self.policy!r}.")
        if not isinstance(self.keep, int) or self.keep < 1:
            raise ValueError(f"keep is a whole number of at least 1; got {self.keep!r}.")


def _require_folder(directory: Any) -> str | os.PathLike[str]:
    if not isinstance(directory, str | os.PathLike) or not os.fspath(directory):
        raise TypeError(NOT_A_FOLDER.format(resume=directory))
    return directory


def parse_resume(argument: Any, callbacks: Any) -> Resume | None:
    """The `Resume` that ``resume=`` asks for, or a BackupAndRestore among the callbacks; None if neither is there."""
    every: Iterable[Any] = getattr(callbacks, "callbacks", callbacks)
    backups = [callback for callback in every if isinstance(callback, BackupAndRestore)]
    if argument is None or argument is False:
        if not backups:
            return None
        backup = backups[0]
        return Resume(backup.directory, backup.policy, backup.keep, backup.delete_checkpoint)
    if backups:
        raise ValueError(TWICE.format(resume=argument))
    if argument is True:
        resume = Resume()
    else:
        resume = argument if isinstance(argument, Resume) else Resume(_require_folder(argument))
    if resume.directory is not None:
        return resume
    run_dir = read_environment().run_dir
    if run_dir is None:
        raise ValueError(NO_RUN)
    return replace(resume, directory=run_dir)


_finished: Counter[Location] = Counter()


def run_folder(resume: Resume) -> str:
    """The folder or URL of the run; ``resume`` is from :func:`parse_resume`, which has found it."""
    assert resume.directory is not None
    return os.fspath(resume.directory)


def next_fit_folder(resume: Resume) -> Location:
    """A folder for each `fit` that a process makes in one run: after a restart of the script, those that had finished
    are skipped, and the one that was interrupted resumes."""
    root = _root(resume)
    return root / f"fit-{_finished[root] + 1}"


def count_finished_fit(resume: Resume) -> None:
    """A `fit` of the run has finished in this process."""
    _finished[_root(resume)] += 1


def prepare_programs_folder(resume: Resume) -> Path:
    """Where compiled programs are kept for the next run: on this machine, also if the checkpoints are in a store.

    Then those of runs that have not used theirs for 90 days are removed.
    """
    location = to_location(run_folder(resume))
    if isinstance(location, Path):
        return location / "programs"
    name = hashlib.sha256(str(location).encode()).hexdigest()[:16]
    # Not below the user's cache, from which the oldest programs are removed: this run needs its own to the end.
    folder = user_cache_folder().parent / "programs-of-runs"
    remove_unused_folders(folder, _DAYS_KEPT)
    return folder / name


def _root(resume: Resume) -> Location:
    return to_location(run_folder(resume)) / "checkpoints"
