"""Which checkpoints there are in a folder, and options that are accepted."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unisono._src.state.checkpoint import latest_checkpoint
from unisono._src.state.store import is_committed


@dataclass(frozen=True)
class CheckpointState:
    """The newest checkpoint of a folder, and all of them, oldest first."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)


def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> CheckpointState | None:
    """What is in a folder of checkpoints; None if there is none."""
    newest = latest_checkpoint(checkpoint_dir, latest_filename)
    if newest is None:
        return None
    paths = sorted((path for path in Path(checkpoint_dir).iterdir() if is_committed(path)), key=_written)
    paths = [*(path for path in paths if str(path) != newest), Path(newest)]
    return CheckpointState(newest, [str(path) for path in paths], [_written(path) for path in paths])


class CheckpointOptions:
    """Accepted by `Checkpoint.save` and `restore`, without effect: there is nothing to choose.

    Args:
        experimental_io_device: without effect: the chief writes.
        experimental_enable_async_checkpoint: without effect; `CheckpointManager(..., background=True)` writes behind
            the training.
        **others: TensorFlow has more of them.
    """

    def __init__(
        self, experimental_io_device: Any = None, experimental_enable_async_checkpoint: bool = False, **others: Any
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.experimental_enable_async_checkpoint = experimental_enable_async_checkpoint
        vars(self).update(others)


def _written(path: Path) -> float:
    return path.stat().st_mtime
