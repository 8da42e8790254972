"""`BackupAndRestore`: settings only. `fit` reads them and does the work (`training/_run_checkpointer.py`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import keras

from unisono._src.keras_hooks import get_owner
from unisono._src.state.checkpoint import EveryEpoch, EverySteps, SavePolicy
from unisono._src.state.store import is_url


class BackupAndRestore(keras.callbacks.Callback):
    """Makes `fit` checkpoint its state while it runs, and resume from the last checkpoint when it is called again.

    The complete state is saved, including the position within the epoch: the final weights are bit-identical to an
    uninterrupted run.

    >>> BackupAndRestore("runs/mnist", save_freq=500).policy
    EverySteps(steps=500)

    Args:
        backup_dir: a folder that only this run uses, or a URL such as "gs://bucket/backup".
        save_freq: "epoch", a number of steps, or a policy from `unisono.checkpoint`.
        double_checkpoint: whether to keep the last two checkpoints. The one that training resumed from is always kept.
        delete_checkpoint: whether to delete the checkpoints when training has finished.
    """

    def __init__(
        self,
        backup_dir: str | os.PathLike[str],
        save_freq: Literal["epoch"] | int | SavePolicy = "epoch",
        double_checkpoint: bool = False,
        delete_checkpoint: bool = True,
    ):
        super().__init__()
        if not os.fspath(backup_dir):
            raise ValueError('BackupAndRestore: backup_dir is empty. Give it a folder: BackupAndRestore("backup").')
        self.backup_dir = os.fspath(backup_dir)
        self.save_freq = save_freq
        self.double_checkpoint = double_checkpoint
        self.delete_checkpoint = delete_checkpoint
        _to_policy(save_freq)

    @property
    def directory(self) -> Path | str:
        """Where the checkpoints are: a folder, or a URL."""
        return self.backup_dir if is_url(self.backup_dir) else Path(self.backup_dir)

    @property
    def policy(self) -> SavePolicy:
        """When to save."""
        return _to_policy(self.save_freq)

    @property
    def keep(self) -> int:
        """How many checkpoints are kept."""
        return 2 if self.double_checkpoint else 1

    def set_model(self, model: Any) -> None:
        """Refuses models outside a strategy, whose `fit` is Keras's and does not read this."""
        super().set_model(model)
        if get_owner(model) is None:
            raise ValueError(
                f"BackupAndRestore: {model.name!r} was created outside every strategy's scope, and Keras's own fit "
                "does not support unisono.callbacks.BackupAndRestore. Make the model in a scope, or write "
                "keras.callbacks.BackupAndRestore."
            )


def _to_policy(save_freq: Any) -> SavePolicy:
    if isinstance(save_freq, SavePolicy):
        return save_freq
    if save_freq == "epoch":
        return EveryEpoch()
    if isinstance(save_freq, int) and not isinstance(save_freq, bool) and save_freq > 0:
        return EverySteps(save_freq)
    raise ValueError(
        f'BackupAndRestore: save_freq={save_freq!r}. Expected "epoch", every how many steps to save, as in '
        "save_freq=500, or a policy: save_freq=unisono.checkpoint.EverySeconds(300)."
    )
