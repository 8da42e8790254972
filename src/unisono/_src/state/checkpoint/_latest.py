"""Finding checkpoints in a folder. The disk is read every time: there is no index file and no cache."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from unisono._src.state.store import Location, list_checkpoints, written_at

_NUMBER: Final = re.compile(r".*[-_](\d+)(?:\.ckpt)?")
_POLL_SECONDS: Final = 0.2


def latest_checkpoint(directory: str | os.PathLike[str], latest_filename: Any = None) -> str | None:
    """The newest complete checkpoint in ``directory``: the one with the highest number at the end of its name, and of
    several such the one written last. None if there is none.

    ``latest_filename`` is accepted for scripts written for TensorFlow, which keeps a list in such a file.

    >>> import tempfile
    >>> latest_checkpoint(tempfile.mkdtemp()) is None
    True
    """
    del latest_filename
    numbered = [(_number(path), path) for path in list_checkpoints(directory)]
    highest = max((number for number, _ in numbered), default=-1)
    newest = [(written_at(path), str(path)) for number, path in numbered if number == highest]
    return max(newest, default=(0.0, None))[1]


def checkpoints_iterator(
    checkpoint_dir: str | os.PathLike[str],
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Yields the newest checkpoint in a folder, and then each newer one when it appears: for a process that evaluates.

    Checkpoints that were written and replaced by newer ones during an evaluation are skipped.

    Args:
        checkpoint_dir: the folder, which may not exist yet.
        min_interval_secs: the shortest time between two checkpoints.
        timeout: how many seconds to wait for the next checkpoint; None waits forever.
        timeout_fn: called after a timeout: True ends the iteration, False waits again. Without it, a timeout ends it.

    >>> import tempfile, unisono
    >>> folder = tempfile.mkdtemp()
    >>> saved = unisono.checkpoint.Checkpoint(step=3).save(f"{folder}/ckpt")
    >>> list(checkpoints_iterator(folder, timeout=0)) == [saved]
    True
    """
    last: str | None = None
    while True:
        found = _newer_than(last, checkpoint_dir, timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        began = time.monotonic()
        last = found
        yield found
        time.sleep(max(0.0, began + min_interval_secs - time.monotonic()))


def _newer_than(last: str | None, folder: str | os.PathLike[str], timeout: float | None) -> str | None:
    deadline = None if timeout is None else time.monotonic() + timeout
    while (found := latest_checkpoint(folder)) is None or found == last:
        if deadline is not None and time.monotonic() >= deadline:
            return None
        time.sleep(_POLL_SECONDS)
    return found


def _number(folder: Location) -> int:
    found = _NUMBER.fullmatch(folder.name)
    return int(found[1]) if found else -1
