"""Checkpoints where a folder can be renamed in one step: a listing shows complete ones and nothing else."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from pathlib import Path
from typing import final

from unisono._src.state.store._durable import sync_file, sync_folder
from unisono._src.state.store._files import LocalFiles
from unisono._src.state.store._manifest import MANIFEST, Manifest
from unisono._src.state.store._pending import PendingCheckpoint
from unisono._src.state.store._replace import rename_into_place
from unisono._src.state.store._staging import clear_stale, staging_folder


@final
class RenamedFolder(PendingCheckpoint):
    """Written into a staging folder, which gets its name in one step."""

    path: Path

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._staging = contextlib.ExitStack()
        clear_stale(folder.parent)
        self.path = self._staging.enter_context(staging_folder(folder.parent)) / folder.name
        self.path.mkdir()
        self.files, self.data = LocalFiles(self.path), ""

    def complete(self, manifest: Manifest) -> None:
        self.files.write(MANIFEST, manifest.to_bytes())
        sync_folder(self.path)
        try:
            rename_into_place(self.path, self._folder, manifest)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._copy_inside(manifest)
        sync_folder(self._folder.parent)

    def close(self) -> None:
        self._staging.close()

    def _copy_inside(self, manifest: Manifest) -> None:
        with staging_folder(self._folder.parent, inside=True) as staged:
            copy = shutil.copytree(self.path, staged / self._folder.name)
            for name in os.listdir(copy):
                sync_file(copy / name)
            sync_folder(copy)
            rename_into_place(copy, self._folder, manifest)
