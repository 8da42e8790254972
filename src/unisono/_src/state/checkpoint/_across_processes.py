"""Loading in several processes: the chief verifies the files, all get the values, and all raise an error.

Processes that see the same files as the chief read from them what they need. Otherwise the chief reads the values and
sends them, so that no other process needs the disk.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from unisono._src.core import warn_user
from unisono._src.processes import all_gather_host, broadcast_from_chief, processes, run_on_chief
from unisono._src.state.store import (
    JSON,
    BadCheckpoint,
    CheckpointError,
    CheckpointSeries,
    LoadedCheckpoint,
    dtype_from_name,
    identify_files,
    open_checkpoint,
    to_location,
)

_T = TypeVar("_T")

NONE_GOOD = """None of the {number} checkpoints in {folder!r} can be used:
{reasons}
To begin from the start, move that folder away."""


def load_newest_via_chief(series: CheckpointSeries) -> LoadedCheckpoint | None:
    """The newest readable checkpoint of the series, on every process; None if there is none at all.

    Newer ones that are damaged are named in a warning. If all are, that is an error: to begin from the start would
    lose what may still be rescued by hand. All processes have to call this.
    """
    return load_via_chief(lambda: _load_newest(series))


def load_via_chief(load: Callable[[], LoadedCheckpoint | None]) -> LoadedCheckpoint | None:
    """What ``load`` returns on the chief, on every process. All have to call this.

    ``load`` may return arrays that are not read yet, as `open_checkpoint` does.
    """
    if processes().count == 1:
        return load()
    loaded: list[LoadedCheckpoint] = []

    def load_and_describe() -> JSON:
        checkpoint = load()
        if checkpoint is None:
            return None
        loaded.append(checkpoint)
        return {
            "folder": str(to_location(checkpoint.folder)),
            "files": _identify(checkpoint),
            "step": checkpoint.step,
            "state": checkpoint.state,
            "info": checkpoint.info,
            "written": checkpoint.written,
            "arrays": [[name, list(array.shape), array.dtype.name] for name, array in checkpoint.arrays.items()],
        }

    found = run_on_chief(load_and_describe)
    if found is None:
        return None
    own = loaded[0] if loaded else _open_same(found["folder"], found["files"])
    arrays: dict[str, Any] = {}
    if all_gather_host(np.array([own is not None and found["files"] is not None], np.uint8)).all():
        assert own is not None
        arrays = own.arrays
    else:
        for name, shape, dtype in found["arrays"]:
            values = np.asarray(own.arrays[name]) if loaded and own else np.zeros(shape, dtype_from_name(dtype))
            arrays[name] = broadcast_from_chief(values)
    return LoadedCheckpoint(
        to_location(found["folder"]), found["step"], arrays, found["state"], found["info"], found["written"]
    )


def _identify(checkpoint: LoadedCheckpoint) -> JSON:
    try:
        return identify_files(checkpoint.folder)
    except BadCheckpoint:  # it has been deleted meanwhile; what is open can still be read
        return None


def _open_same(path: str, files: JSON) -> LoadedCheckpoint | None:
    """The checkpoint at ``path`` if its files are those that the chief has verified."""
    try:
        folder = to_location(path)
        if files is None or identify_files(folder) != files:
            return None
        opened = open_checkpoint(folder, verified=True)
        return opened if identify_files(folder) == files else None
    except (OSError, CheckpointError, ImportError):  # the chief sends the values
        return None


def run_on_all(work: Callable[[], _T]) -> _T:
    """``work()``; what it raises on one process is raised on all, which would otherwise wait for it."""
    if processes().count == 1:
        return work()
    failure: Exception | None = None
    try:
        result = work()
    except Exception as error:
        failure = error
    failed = all_gather_host(np.array([failure is not None], np.uint8))[:, 0]
    if failure is not None:
        raise failure
    if failed.any():
        raise RuntimeError(f"{processes().names[int(failed.argmax())]} failed to do the same; see its error.")
    return result


def _load_newest(series: CheckpointSeries) -> LoadedCheckpoint | None:
    checkpoint, bad = series.load_newest_good(open_checkpoint)
    if checkpoint is None and bad:
        reasons = "\n".join(f"  {each}" for each in bad)
        raise CheckpointError(NONE_GOOD.format(number=len(bad), folder=str(series.folder), reasons=reasons))
    for each in bad:
        warn_user(f"{each} An older one is restored.")
    return checkpoint
