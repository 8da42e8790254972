"""Finding the complete checkpoints in a folder, of whatever names."""

from __future__ import annotations

import os
from pathlib import Path

from unisono._src.state.store._errors import BadCheckpoint
from unisono._src.state.store._load import is_committed
from unisono._src.state.store._location import Location, is_url, to_location
from unisono._src.state.store._manifest import read_manifest
from unisono._src.state.store._remote_path import RemotePath, map_concurrently


def list_checkpoints(directory: str | os.PathLike[str] | RemotePath) -> list[Location]:
    """The complete checkpoints in ``directory``, which need not exist; their paths begin as it does."""
    location = to_location(directory)
    if isinstance(location, RemotePath):
        paths = [location / name for name, size in sorted(location.names().items()) if size is None]
        return [path for path, is_there in zip(paths, map_concurrently(is_committed, paths), strict=True) if is_there]
    if not is_url(directory) and not isinstance(directory, RemotePath):
        location = Path(directory)
    try:
        return [path for path in location.iterdir() if is_committed(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []


def written_at(folder: Location) -> float:
    """When the checkpoint was written, in seconds since 1970; 0 if it is gone or damaged."""
    try:
        if isinstance(folder, Path):
            return folder.stat().st_mtime  # nothing in it changes after the rename
        return read_manifest(folder).written
    except (FileNotFoundError, BadCheckpoint):
        return 0.0
