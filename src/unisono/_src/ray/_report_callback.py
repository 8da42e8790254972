"""`unisono.ray.ReportCallback`: metrics and checkpoints of a `fit` for Ray Train, its storage, and Tune."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path
from typing import Any, final

import keras
import ray.train
from ray.train import Checkpoint, CheckpointUploadMode

from unisono._src.core import read_environment
from unisono._src.state.store import Location

NO_CONTEXT = """unisono.ray.ReportCallback reports to Ray Train, and this process is not one of its workers. Run the
function that calls `fit` by unisono.ray.Trainer(function).fit()."""


@final
class ReportCallback(keras.callbacks.Callback):
    """Reports to Ray Train after every epoch, from all workers: the logs, `epoch` (how many have ended), and with
    `fit(resume=...)` the checkpoint of this moment.

    ```python
    model.fit(dataset, epochs=10, resume=True, callbacks=[unisono.ray.ReportCallback()])
    ```

    `fit` then saves at the end of every epoch, whatever else it saves. If the folder of the run is in Ray's storage
    (as with `resume=True`), nothing is copied: the reported checkpoint has hard links to the files of that save, and
    either may be deleted without the other. In a bucket it is that save itself, which `fit` deletes when it is no
    longer one of the newest (`Resume(keep=...)`). Otherwise Ray copies the files to its storage.

    Args:
        epochs_per_checkpoint: report a checkpoint after every so many epochs only.
    """

    def __init__(self, epochs_per_checkpoint: int = 1) -> None:
        super().__init__()
        if not isinstance(epochs_per_checkpoint, int) or epochs_per_checkpoint < 1:
            raise ValueError(f"epochs_per_checkpoint is a whole number of at least 1; got {epochs_per_checkpoint!r}.")
        self._epochs_per_checkpoint = epochs_per_checkpoint
        self._unreported: dict[str, float] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        """Raises before anything is trained if there is nobody to report to."""
        try:
            ray.train.get_context().get_world_rank()
        except RuntimeError:
            raise RuntimeError(NO_CONTEXT) from None

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """The epoch before it was not reported with a checkpoint."""
        self._report(None)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keeps the metrics until it is known whether a checkpoint belongs to them."""
        metrics = {name: float(value) for name, value in (logs or {}).items()}
        self._unreported = {**metrics, "epoch": epoch + 1}

    def wants_checkpoint(self, epoch: int) -> bool:
        """Asked by `fit(resume=...)` at the end of an epoch: whether `on_epoch_saved` is to be called."""
        return (epoch + 1) % self._epochs_per_checkpoint == 0

    def on_epoch_saved(self, epoch: int, folder: Location | None) -> None:
        """The end of the epoch is saved in ``folder``; None on workers other than the chief."""
        self._report(folder)

    def on_train_end(self, logs: Any = None) -> None:
        """Reports the last epoch, if that was not done."""
        self._report(None)

    def get_state(self) -> dict[str, Any]:
        """What is part of a checkpoint of `fit`: metrics that were not reported when it was written."""
        return {"unreported": self._unreported}

    def set_state(self, state: dict[str, Any]) -> None:
        """Restores it. An epoch that was reported after the checkpoint was written is not reported again."""
        self._unreported = state["unreported"]
        reported = ray.train.get_checkpoint()
        if self._unreported and reported and Path(reported.path).name == _name(self._unreported["epoch"]):
            self._unreported = None

    def _report(self, folder: Location | None) -> None:
        metrics, self._unreported = self._unreported, None
        if metrics is None:
            return
        checkpoint, mode = None, CheckpointUploadMode.SYNC
        if folder is not None:
            storage = ray.train.get_context().get_storage()
            stored = _put_into_storage(folder, storage.experiment_fs_path, _name(metrics["epoch"]))
            if stored is None:
                checkpoint = Checkpoint(str(folder))  # of which Ray makes a copy
            else:
                checkpoint = Checkpoint(stored, filesystem=storage.storage_filesystem)
                mode = CheckpointUploadMode.NO_UPLOAD
        ray.train.report(
            metrics,
            checkpoint=checkpoint,
            checkpoint_dir_name=_name(metrics["epoch"]),
            checkpoint_upload_mode=mode,
        )


def _name(epoch: float) -> str:
    return f"checkpoint_epoch-{int(epoch):06d}"


def _put_into_storage(folder: Location, experiment: str, name: str) -> str | None:
    """Where a checkpoint is in the storage of a Ray Train run, without a copy of its files; None if it is elsewhere."""
    if isinstance(folder, Path):
        linked = Path(experiment) / name
        return str(linked) if linked.is_absolute() and _link_folder(folder, linked) else None
    run_dir = read_environment().run_dir
    if run_dir is None or not str(folder).startswith(f"{run_dir}/"):
        return None
    return experiment.rstrip("/") + str(folder).removeprefix(str(run_dir))


def _link_folder(folder: Path, target: Path) -> bool:
    """Makes ``target`` a folder with hard links to the files in ``folder``; False if the file system cannot."""
    if target.is_dir():
        shutil.rmtree(target)  # of an earlier attempt
    staged = target.with_name(f".{target.name}-{uuid.uuid4().hex}")
    try:
        shutil.copytree(folder, staged, copy_function=os.link)
        staged.rename(target)
    except (OSError, shutil.Error):
        shutil.rmtree(staged, ignore_errors=True)
        return False
    return True
