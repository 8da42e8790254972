"""A checkpoint that is being written, and how it appears when all of its files are there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from unisono._src.state.store._files import Files
from unisono._src.state.store._location import Location
from unisono._src.state.store._manifest import Manifest


class PendingCheckpoint(ABC):
    """A checkpoint that is being written. It appears in `complete`, and `close` deletes what is left.

    Attributes:
        path: the folder that the files are written to.
        files: the files there.
        data: the name of that folder in the checkpoint, as in the manifest; empty if it is the checkpoint itself.
    """

    path: Location
    files: Files
    data: str

    @abstractmethod
    def complete(self, manifest: Manifest) -> None:
        """All files are written: now it is a checkpoint. When this returns it is durable."""

    @abstractmethod
    def close(self) -> None:
        """Deletes what was written and is not part of a complete checkpoint."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
