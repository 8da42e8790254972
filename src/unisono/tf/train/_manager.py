"""`tf.train.CheckpointManager`, whose folder exists on every process."""

from __future__ import annotations

import functools
import os
from typing import Any

from unisono.checkpoint import CheckpointManager as Manager


class _Managers(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Manager)


class CheckpointManager(metaclass=_Managers):
    """Gives the `unisono.checkpoint.CheckpointManager` of the folder, with which the chief alone writes.

    Scripts for several workers name a folder for each, and delete those that are not the chief's after each save: so
    every save makes one.
    """

    def __new__(cls, checkpoint: Any, directory: str | os.PathLike[str], *args: Any, **kwargs: Any) -> Manager:  # type: ignore[misc]
        manager = Manager(checkpoint, directory, *args, **kwargs)
        write = manager.save

        @functools.wraps(write)
        def save(*args: Any, **kwargs: Any) -> str | None:
            os.makedirs(directory, exist_ok=True)
            return write(*args, **kwargs)

        os.makedirs(directory, exist_ok=True)
        manager.save = save  # type: ignore[method-assign]
        return manager
