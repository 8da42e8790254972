"""Renaming a complete folder into place, also over an earlier checkpoint."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from unisono._src.state.store._durable import swap_names
from unisono._src.state.store._errors import BadCheckpoint, CheckpointError
from unisono._src.state.store._load import verify
from unisono._src.state.store._location import Location
from unisono._src.state.store._manifest import Manifest, has_unisono_manifest
from unisono._src.state.store._marked_files import find_foreign
from unisono._src.state.store._remove import delete_folder
from unisono._src.state.store._staging import replace_in_two_moves

_MAX_TRIES = 10


def check_replaceable(folder: Location) -> None:
    """Checkpoints, damaged ones too, and empty folders may be replaced. Anything else is a CheckpointError."""
    if has_unisono_manifest(folder):
        return
    if isinstance(folder, Path):
        if not os.path.lexists(folder):
            return
        if os.path.islink(folder) or not os.path.isdir(folder):
            kind = "a link" if os.path.islink(folder) else "a file"
            raise CheckpointError(f"{str(folder)!r} is {kind}. Move it away, or choose another name.")
    elif folder.size() is not None:
        raise CheckpointError(f"{str(folder)!r} is a file. Move it away, or choose another name.")
    foreign = find_foreign(folder)
    if foreign:
        raise CheckpointError(
            f"{str(folder)!r} is not a checkpoint, but holds {', '.join(map(repr, foreign[:3]))}"
            f"{' and more' if len(foreign) > 3 else ''}. Move it away, or choose another name."
        )


def rename_into_place(new: Path, folder: Path, manifest: Manifest) -> None:
    """Renames `new`, whose manifest is given, to `folder`. Afterwards `new` may be what had the name before."""
    for _ in range(_MAX_TRIES):
        try:
            os.rename(new, folder)  # also over an empty folder
            return
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        if _is_same(folder, manifest):
            return
        check_replaceable(folder)
        try:
            if not swap_names(new, folder):
                replace_in_two_moves(new, folder)
            return
        except FileNotFoundError:  # another job deleted it meanwhile
            continue
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            delete_folder(folder)  # an overlay file system stores it elsewhere, and cannot move it
    raise CheckpointError(
        f"{str(folder)!r} could not be written: another job writes there again and again. Give each job its own folder."
    )


def _is_same(folder: Path, manifest: Manifest) -> bool:
    try:
        return verify(folder).has_same_content(manifest)
    except BadCheckpoint:
        return False
