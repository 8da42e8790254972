"""Begins a checkpoint at a place, in the way that the storage there allows."""

from __future__ import annotations

from unisono._src.state.store._durable import make_folders
from unisono._src.state.store._location import Location
from unisono._src.state.store._marked_folder import MarkedFolder
from unisono._src.state.store._placement import Placement
from unisono._src.state.store._remote_path import RemotePath
from unisono._src.state.store._rename_support import can_rename_folders
from unisono._src.state.store._renamed_folder import RenamedFolder
from unisono._src.state.store._replace import check_replaceable


def begin_checkpoint(folder: Location) -> Placement:
    """A place for the files of a new checkpoint in `folder`. CheckpointError if something else has that name."""
    check_replaceable(folder)
    if isinstance(folder, RemotePath):
        return MarkedFolder(folder)
    make_folders(folder.parent)
    return RenamedFolder(folder) if can_rename_folders(folder.parent) else MarkedFolder(folder)
