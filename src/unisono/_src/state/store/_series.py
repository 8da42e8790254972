"""The checkpoints of one series in one folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path

from unisono._src.state.store._errors import BadCheckpoint, CheckpointError, explain_os_errors
from unisono._src.state.store._load import LoadedCheckpoint, is_committed, load, looks_complete
from unisono._src.state.store._location import Location, to_location
from unisono._src.state.store._manifest import has_unisono_manifest
from unisono._src.state.store._marked_files import delete_leftovers
from unisono._src.state.store._remote_path import RemotePath, map_concurrently
from unisono._src.state.store._remove import remove
from unisono._src.state.store._rename_support import can_rename_folders
from unisono._src.state.store._staging import clear_stale


class CheckpointSeries:
    """The checkpoints PREFIX-STEP in a folder. It remembers nothing: every question is answered from the disk.

    >>> import tempfile
    >>> from unisono._src.state.store import commit
    >>> series = CheckpointSeries(Path(tempfile.mkdtemp()) / "ckpt")
    >>> for step in (5, 10, 15):
    ...     commit(series.path(step), arrays={}, step=step)
    >>> series.prune(keep=2)
    >>> series.steps()
    [10, 15]
    >>> good, bad = series.load_newest_good()
    >>> good.step, bad
    (15, [])
    """

    def __init__(self, folder: str | os.PathLike[str] | RemotePath, prefix: str = "step") -> None:
        if not prefix or "/" in prefix or prefix.startswith("."):
            raise ValueError(f"CheckpointSeries: prefix is {prefix!r}. Expected a plain name, such as 'step'.")
        self._folder = to_location(folder)
        self._prefix = prefix
        self._name = re.compile(re.escape(prefix) + r"-(0|[1-9][0-9]*)")

    @property
    def folder(self) -> Location:
        """The folder of all of them."""
        return self._folder

    def path(self, step: int) -> Location:
        """The folder of the checkpoint of `step`, whether it is there or not."""
        return self._folder / f"{self._prefix}-{step}"

    def steps(self) -> list[int]:
        """The steps of which there is a checkpoint, ascending. Damaged ones are among them."""
        numbers = self._numbers()
        committed = (map_concurrently if isinstance(self._folder, RemotePath) else map)(
            is_committed, map(self.path, numbers)
        )
        return [number for number, is_there in zip(numbers, committed, strict=True) if is_there]

    def load_newest_good(
        self, load: Callable[[Location], LoadedCheckpoint] = load
    ) -> tuple[LoadedCheckpoint | None, list[BadCheckpoint]]:
        """The newest checkpoint whose checksums are right, and what is wrong with each newer one.

        What killed writers left in the staging folder is cleared first, as it may be half of a replacement.
        ``load`` may be `open_checkpoint`.
        """
        if isinstance(self._folder, Path):
            clear_stale(self._folder)
        bad: list[BadCheckpoint] = []
        for step in reversed(self.steps()):
            try:
                return load(self.path(step)), bad
            except BadCheckpoint as error:
                if is_committed(self.path(step)):  # else it was deleted meanwhile
                    bad.append(error)
        return None, bad

    def prune(self, keep: int | None, spare: Container[int] = ()) -> None:
        """Deletes all but the newest `keep`, never one whose step is in `spare`. None keeps all.

        Those that are visibly incomplete do not count among the `keep`, so that good ones are not given up for them.
        Also deletes what killed writers left behind.
        """
        if keep is not None and keep < 1:
            raise ValueError(f"CheckpointSeries.prune: keep is {keep}. Expected 1 or more, or None to keep all.")
        steps = self.steps()
        self._clear_leftovers(steps)
        num_kept = 0
        for step in reversed(steps if keep is not None else []):
            path = self.path(step)
            if num_kept < (keep or 0):
                num_kept += looks_complete(path)
            elif step not in spare and has_unisono_manifest(path):
                _remove_unless_gone(path)

    def clear(self) -> None:
        """Deletes all of them; folders that are not checkpoints stay."""
        steps = self.steps()
        self._clear_leftovers(steps)
        for step in steps:
            if has_unisono_manifest(self.path(step)):
                _remove_unless_gone(self.path(step))

    def _numbers(self) -> list[int]:
        """The numbers of the folders that have a name of this series, ascending."""
        names: Iterable[str]
        if isinstance(self._folder, RemotePath):
            names = self._folder.names()
        else:
            with explain_os_errors("listed", self._folder / f"{self._prefix}-*"):
                try:
                    names = os.listdir(self._folder)
                except FileNotFoundError:
                    return []
        return sorted(int(found[1]) for name in names if (found := self._name.fullmatch(name)))

    def _clear_leftovers(self, steps: Sequence[int]) -> None:
        """Deletes what killed writers left. A checkpoint of a number above ``steps`` may be being written."""
        if isinstance(self._folder, Path):
            clear_stale(self._folder)
        newest = max(steps, default=0)
        incomplete = [number for number in self._numbers() if number < newest and number not in steps]
        for path in map(self.path, incomplete):
            with explain_os_errors("deleted", path):
                # Where folders are renamed, one without a manifest is not Unisono's.
                if isinstance(path, RemotePath) or not can_rename_folders(path.parent):
                    delete_leftovers(path)


def _remove_unless_gone(path: Location) -> None:
    try:
        remove(path)
    except CheckpointError:
        if is_committed(path):  # else another job was quicker
            raise
