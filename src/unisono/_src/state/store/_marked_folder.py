"""Checkpoints where a folder cannot be renamed: the manifest is written last, and makes them exist.

The files are in a folder of their own, whose name is drawn at random and is in the manifest:

    save-7/manifest.json
    save-7/0f3a…/arrays.safetensors
    save-7/0f3a…/state.json

A checkpoint that is replaced is the old one until its manifest is written over, and the new one from then on.
"""

from __future__ import annotations

import contextlib
import secrets
from typing import final

from unisono._src.state.store._errors import CheckpointError
from unisono._src.state.store._files import files_in
from unisono._src.state.store._location import Location
from unisono._src.state.store._manifest import MANIFEST, Manifest
from unisono._src.state.store._marked_files import delete_leftovers
from unisono._src.state.store._pending import PendingCheckpoint

CHANGED = """{folder!r} was not written: {name!r} has {found} bytes there, expected {expected:,}. Another job may be
writing the same checkpoint: give each job its own folder."""


@final
class MarkedFolder(PendingCheckpoint):
    """Written in place, and complete when its manifest is."""

    def __init__(self, folder: Location) -> None:
        self._folder, self._in_folder = folder, files_in(folder)
        self.data = secrets.token_hex(8)
        self.path = folder / self.data
        self.files = files_in(self.path, in_order=True)
        delete_leftovers(folder)
        self._in_folder.make()
        self.files.make()

    def complete(self, manifest: Manifest) -> None:
        sizes = self.files.sizes()
        for name, entry in manifest.files.items():
            if sizes.get(name) != entry.bytes:
                found = sizes.get(name, "no")
                raise CheckpointError(
                    CHANGED.format(folder=str(self._folder), name=name, found=found, expected=entry.bytes)
                )
        for folder in (self.path, self._folder, self._folder.parent):
            files_in(folder).sync()
        self._in_folder.replace(MANIFEST, manifest.to_bytes())

    def close(self) -> None:
        # If this fails, nothing is lost: the next writer tries again.
        with contextlib.suppress(OSError, CheckpointError):
            delete_leftovers(self._folder)
