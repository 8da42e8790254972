"""Deleting a checkpoint."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from unisono._src.state.store._errors import CheckpointError, explain_os_errors
from unisono._src.state.store._files import files_in
from unisono._src.state.store._location import to_location
from unisono._src.state.store._manifest import has_unisono_manifest
from unisono._src.state.store._marked_files import remove_marked
from unisono._src.state.store._remote_path import RemotePath
from unisono._src.state.store._rename_support import can_rename_folders
from unisono._src.state.store._staging import staging_folder


def remove(folder: str | os.PathLike[str] | RemotePath) -> None:
    """Deletes the checkpoint in `folder`; it is gone atomically. Links, and what is not a checkpoint, are refused.

    >>> import tempfile
    >>> from unisono._src.state.store import commit, is_committed
    >>> folder = Path(tempfile.mkdtemp()) / "ckpt" / "step-5"
    >>> commit(folder, arrays={})
    >>> remove(folder)
    >>> is_committed(folder)
    False
    """
    location = to_location(folder)
    if not has_unisono_manifest(location):
        raise CheckpointError(
            f"{str(location)!r} was not deleted: it is not a folder with a manifest of Unisono. "
            f"If you do not need it, delete it yourself."
        )
    with explain_os_errors("deleted", location):
        if isinstance(location, RemotePath) or not can_rename_folders(location.parent):
            remove_marked(location)
        else:
            delete_folder(location)
        files_in(location.parent).sync()


def delete_folder(folder: Path) -> None:
    """Deletes a folder that is known to be a checkpoint."""
    for inside in (False, True):
        with staging_folder(folder.parent, inside=inside) as staged:
            try:
                os.rename(folder, staged / folder.name)
                return
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
    # A folder of a lower layer of an overlay cannot be moved at all.
    remove_marked(folder)
