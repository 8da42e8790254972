"""The files of a checkpoint that its manifest makes exist: which are used, which are left over, and deleting them.

A checkpoint that is deleted loses its manifest first. Files that no manifest names are what a killed writer left. There
are no locks, so only who writes the same checkpoint, or a newer one of the same series, deletes them.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Final

from unisono._src.state.store._errors import BadCheckpoint
from unisono._src.state.store._files import files_in
from unisono._src.state.store._location import Location
from unisono._src.state.store._manifest import ARRAYS, MANIFEST, STATE, is_data_name, read_manifest
from unisono._src.state.store._pieces import PART_FILE

_DATA: Final = rf"{re.escape(ARRAYS)}|{re.escape(STATE)}|{PART_FILE}"
# What Unisono writes into the folder of a checkpoint, apart from the manifest. Anything else is not touched.
_WRITTEN: Final = re.compile(
    rf"(?:[0-9a-f]{{16}}/)?(?:{_DATA})|[0-9a-f]{{16}}\.(?:begun|part-\d+)(?:\.new)?|{re.escape(MANIFEST)}\.new"
)


def delete_leftovers(folder: Location) -> None:
    """Deletes the files of Unisono in `folder` that its manifest does not name; all of them if there is none."""
    files = files_in(folder)
    names = files.sizes()
    used: set[str] = set()
    if MANIFEST in names:
        try:
            manifest = read_manifest(folder)
        except BadCheckpoint:  # damaged, or newer: not to be touched
            return
        used = set(map(manifest.path_of, manifest.files))
    files.delete(name for name in names if name not in used and _WRITTEN.fullmatch(name))


def find_foreign(folder: Location) -> list[str]:
    """What is in `folder` that Unisono does not write."""
    names = files_in(folder).sizes()
    foreign = {name for name in names if not (name == MANIFEST or _WRITTEN.fullmatch(name))}
    if isinstance(folder, Path):
        for entry in os.scandir(folder):
            is_data = entry.is_dir(follow_symlinks=False) and is_data_name(entry.name)
            if not is_data and not entry.is_file(follow_symlinks=False):
                foreign.add(entry.name)
    return sorted(foreign)


def remove_marked(folder: Location) -> None:
    """Deletes a checkpoint where it cannot be moved away: without its manifest it is none any more."""
    files = files_in(folder)
    files.delete([MANIFEST])
    with contextlib.suppress(FileNotFoundError):  # there was nothing else
        files.sync()
    files.delete(files.sizes())
