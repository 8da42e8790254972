"""A complete folder gets its name, even if another has it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from unisono._src.state.store._durable import exchange
from unisono._src.state.store._errors import BadCheckpoint, CheckpointError
from unisono._src.state.store._load import verify
from unisono._src.state.store._manifest import ARRAYS, MANIFEST, STATE, Manifest, looks_like_ours
from unisono._src.state.store._remove import take_away
from unisono._src.state.store._staging import replace_in_two_moves

_MOST_TRIES = 10


def refuse_what_is_not_ours(folder: Path) -> None:
    """Replaced are checkpoints, damaged ones too, and empty folders. Anything else is a CheckpointError."""
    if not os.path.lexists(folder) or looks_like_ours(folder):
        return
    if os.path.islink(folder) or not os.path.isdir(folder):
        kind = "a link" if os.path.islink(folder) else "a file"
        raise CheckpointError(f"{os.fspath(folder)!r} is {kind}. Move it away, or choose another name.")
    with os.scandir(folder) as found:
        others = sorted(
            item.name
            for item in found
            if item.name not in (ARRAYS, STATE, MANIFEST) or not item.is_file(follow_symlinks=False)
        )
    if others:
        raise CheckpointError(
            f"{os.fspath(folder)!r} is no checkpoint, but holds {', '.join(map(repr, others[:3]))}"
            f"{' and more' if len(others) > 3 else ''}. Move it away, or choose another name."
        )


def give_name(new: Path, folder: Path, manifest: Manifest) -> None:
    """Renames `new`, whose manifest is given, to `folder`. Afterwards `new` may be what had the name before."""
    for _ in range(_MOST_TRIES):
        try:
            os.rename(new, folder)  # also over an empty folder
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if _is_same(folder, manifest):
            return
        refuse_what_is_not_ours(folder)
        try:
            if not exchange(new, folder):
                replace_in_two_moves(new, folder)
            return
        except FileNotFoundError:  # another job deleted it meanwhile
            continue
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            take_away(folder)  # an overlay keeps it elsewhere, and cannot move it
    raise CheckpointError(
        f"{os.fspath(folder)!r} could not be written: another job puts something there again and again. "
        f"Give each job a folder of its own."
    )


def _is_same(folder: Path, manifest: Manifest) -> bool:
    try:
        return verify(folder).holds_the_same_as(manifest)
    except BadCheckpoint:
        return False
