"""Deleting a checkpoint."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from unisono._src.state.store._durable import sync_folder
from unisono._src.state.store._errors import CheckpointError, explain_os_errors
from unisono._src.state.store._manifest import MANIFEST, has_unisono_manifest
from unisono._src.state.store._staging import staging_folder


def remove(folder: str | os.PathLike[str]) -> None:
    """Deletes the checkpoint in `folder`; it is gone atomically. Links, and what is not a checkpoint, are refused.

    >>> import tempfile
    >>> from unisono._src.state.store import commit, is_committed
    >>> folder = Path(tempfile.mkdtemp()) / "ckpt" / "step-5"
    >>> commit(folder, arrays={})
    >>> remove(folder)
    >>> is_committed(folder)
    False
    """
    folder = Path(os.path.abspath(folder))
    if not has_unisono_manifest(folder):
        raise CheckpointError(
            f"{os.fspath(folder)!r} was not deleted: it is not a folder with a manifest of Unisono. "
            f"If you do not need it, delete it yourself."
        )
    with explain_os_errors("deleted", folder):
        delete_folder(folder)
        sync_folder(folder.parent)


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
    # A folder of a lower layer of an overlay cannot be moved at all. Without its manifest it is no checkpoint any more.
    os.unlink(folder / MANIFEST)
    sync_folder(folder)
    shutil.rmtree(folder)
