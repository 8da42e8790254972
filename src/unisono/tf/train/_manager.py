"""`tf.train.CheckpointManager`, whose folder exists on every process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from unisono._src.state import checkpoint


class CheckpointManager(checkpoint.CheckpointManager):
    """`unisono.checkpoint.CheckpointManager`, with two manners of TensorFlow's.

    Its folder is there on every process, though the chief alone writes: scripts for several workers name a folder for
    each, and delete those that are not the chief's after each save. And what was restored from counts as any other:
    it goes when there are `max_to_keep` newer ones.
    """

    def __init__(self, checkpoint: Any, directory: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(checkpoint, directory, *args, **kwargs)
        os.makedirs(directory, exist_ok=True)

    def save(self, *args: Any, **kwargs: Any) -> str | None:
        """As there; see the class for the folder."""
        os.makedirs(self.directory, exist_ok=True)
        return super().save(*args, **kwargs)

    def _restored_folder(self) -> Path | None:
        return None
