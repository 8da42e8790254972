"""What the processes of a job do together when they save and restore: one reads and writes, all know and all fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from unisono._src.processes import all_gather_host, broadcast_from_chief, processes, run_on_chief
from unisono._src.state.store import JSON, LoadedCheckpoint

_T = TypeVar("_T")


def load_on_chief(load: Callable[[], LoadedCheckpoint | None]) -> LoadedCheckpoint | None:
    """What ``load`` gives on the chief, on every process, so that no other needs the disk. All have to call this."""
    if processes().count == 1:
        return load()
    read: list[LoadedCheckpoint] = []

    def tell() -> JSON:
        stored = load()
        if stored is None:
            return None
        read.append(stored)
        return {
            "folder": str(stored.folder),
            "step": stored.step,
            "state": stored.state,
            "info": stored.info,
            "written": stored.written,
            "arrays": [[name, list(array.shape), array.dtype.name] for name, array in stored.arrays.items()],
        }

    told = run_on_chief(tell)
    if told is None:
        return None
    arrays = {}
    for name, shape, dtype in told["arrays"]:
        arrays[name] = broadcast_from_chief(read[0].arrays[name] if read else np.zeros(shape, dtype))
    return LoadedCheckpoint(Path(told["folder"]), told["step"], arrays, told["state"], told["info"], told["written"])


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
        raise RuntimeError(f"{processes().names[int(failed.argmax())]} failed to do the same; its own error says why.")
    return result
