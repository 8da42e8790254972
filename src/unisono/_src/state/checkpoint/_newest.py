"""From which checkpoint of a series to go on."""

from __future__ import annotations

import warnings

from unisono._src.state.store import CheckpointError, CheckpointSeries, LoadedCheckpoint

NONE_GOOD = """None of the {number} checkpoints in {folder!r} can be used:
{reasons}
To begin anew, move that folder away."""


def load_newest_good(shelf: CheckpointSeries) -> LoadedCheckpoint | None:
    """The newest one that can be read; None if there is none at all.

    Newer ones that are damaged are named in a warning. If all are, that is an error: to begin anew would lose what may
    still be saved by hand.
    """
    stored, bad = shelf.newest_good()
    if stored is None and bad:
        reasons = "\n".join(f"  {each}" for each in bad)
        raise CheckpointError(NONE_GOOD.format(number=len(bad), folder=str(shelf.folder), reasons=reasons))
    for each in bad:
        warnings.warn(f"{each} An older one is restored.", UserWarning, stacklevel=2)
    return stored


def checkpoint_number(stored: LoadedCheckpoint) -> int:
    """Its number in the series."""
    return int(stored.folder.name.rpartition("-")[2])
