"""Deleting a checkpoint."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

from unisono._src.state.store._durable import sync_folder
from unisono._src.state.store._errors import CheckpointError, explained
from unisono._src.state.store._manifest import MANIFEST, looks_like_ours
from unisono._src.state.store._staging import staging


def remove(folder: str | os.PathLike[str]) -> None:
    """Deletes the checkpoint in `folder`; it is gone in one moment. Links, and what is no checkpoint, are refused.

    >>> import tempfile
    >>> from unisono._src.state.store import commit, is_committed
    >>> folder = Path(tempfile.mkdtemp()) / "ckpt" / "step-5"
    >>> commit(folder, arrays={})
    >>> remove(folder)
    >>> is_committed(folder)
    False
    """
    folder = Path(os.path.abspath(folder))
    if not looks_like_ours(folder):
        raise CheckpointError(
            f"{os.fspath(folder)!r} was not deleted: it is not a folder with a manifest of Unisono's. "
            f"If you do not need it, delete it yourself."
        )
    with explained("deleted", folder):
        take_away(folder)
        sync_folder(folder.parent)


def take_away(folder: Path) -> None:
    """Deletes a folder that was found to be ours."""
    for inside in (False, True):
        with staging(folder.parent, inside=inside) as place:
            try:
                os.rename(folder, place / folder.name)
                return
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
    # A folder of a lower layer of an overlay cannot be moved at all. Without its manifest it does not exist either.
    os.unlink(folder / MANIFEST)
    sync_folder(folder)
    shutil.rmtree(folder)
