"""`tf.train.Checkpoint`, `CheckpointManager` and `get_checkpoint_state`, with TensorFlow's behaviour."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unisono._src.state import checkpoint
from unisono._src.state.checkpoint import LoadStatus, latest_checkpoint
from unisono._src.state.store import LoadedCheckpoint, list_checkpoints, to_location, written_at
from unisono.tf._deferred_values import defer_unused_values, restore_deferred
from unisono.tf._unsupported import unsupported_class


class Checkpoint(checkpoint.Checkpoint):
    """`unisono.checkpoint.Checkpoint` whose `restore` and `read` accept values or objects without a counterpart.

    Values without an object are kept: a variable, model or iterator that becomes an attribute later, or an item of a
    list or dict that is one, gets its value then. This holds for inner checkpoints and modules, too.

    The returned status raises on `assert_consumed()` and `assert_existing_objects_matched()`. Without these calls and
    without `expect_partial()` there is a warning.

    >>> import tempfile, keras
    >>> path = Checkpoint(a=keras.Variable(1.0)).save(tempfile.mkdtemp() + "/ckpt")
    >>> a, b = keras.Variable(0.0), keras.Variable(0.0)
    >>> status = Checkpoint(a=a, b=b).restore(path).expect_partial()
    >>> float(a.value), status.missing
    (1.0, ['b'])
    """

    def restore(
        self, save_path: str | os.PathLike[str] | None, options: Any = None, *, strict: bool | None = None
    ) -> LoadStatus:
        """Restores matching values from the folder that `save` returned; None does nothing.

        A value of another shape or dtype is an error. With ``strict=True`` a missing counterpart is an error, too; with
        False there is no warning.
        """
        status = super().restore(save_path, options, strict=strict is True)
        return status.expect_all() if strict is None else status

    def read(self, save_path: str | os.PathLike[str], options: Any = None, *, strict: bool | None = None) -> LoadStatus:
        """Restores from the folder that `write` returned; `save_counter` does not change."""
        status = super().read(save_path, options, strict=strict is True)
        return status.expect_all() if strict is None else status

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        self._objects[name] = restore_deferred(self, name, value)

    def _restore_from(self, loaded: LoadedCheckpoint, strict: bool | None, *, with_counter: bool = True) -> LoadStatus:
        status = super()._restore_from(loaded, strict, with_counter=with_counter)
        defer_unused_values(self, loaded, status)
        return status


class CheckpointManager(checkpoint.CheckpointManager):
    """`unisono.checkpoint.CheckpointManager` with two behaviours of TensorFlow's.

    The folder exists on every process, although only the chief writes: scripts for several workers name a folder for
    each worker, and delete those of the other workers after each `save`. The checkpoint that was restored is deleted
    like any other once there are `max_to_keep` newer ones.
    """

    def __init__(self, checkpoint: Any, directory: str | os.PathLike[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(checkpoint, directory, *args, **kwargs)
        self._make_folder()

    def save(self, *args: Any, **kwargs: Any) -> str | None:
        """Writes a checkpoint, and creates the folder on every process."""
        self._make_folder()
        return super().save(*args, **kwargs)

    def _make_folder(self) -> None:
        location = to_location(self.directory)
        if isinstance(location, Path):  # in a bucket there are none
            os.makedirs(location, exist_ok=True)

    def _restored_folder(self) -> None:
        return None


@dataclass(frozen=True)
class CheckpointState:
    """The newest checkpoint of a folder, and all of them, oldest first."""

    model_checkpoint_path: str
    all_model_checkpoint_paths: list[str]
    all_model_checkpoint_timestamps: list[float] = field(default_factory=list)


def get_checkpoint_state(
    checkpoint_dir: str | os.PathLike[str], latest_filename: str | None = None
) -> CheckpointState | None:
    """The checkpoints in a folder; None if there are none."""
    newest = latest_checkpoint(checkpoint_dir, latest_filename)
    if newest is None:
        return None
    times = {str(path): written_at(path) for path in list_checkpoints(checkpoint_dir)}
    paths = [*(path for path in sorted(times, key=times.__getitem__) if path != newest), newest]
    return CheckpointState(newest, paths, [times[path] for path in paths])


class CheckpointOptions:
    """Accepted by `Checkpoint.save` and `restore`, without effect.

    Args:
        experimental_io_device: without effect: the chief writes.
        experimental_enable_async_checkpoint: without effect; `CheckpointManager(..., background=True)` writes
            in the background.
        **options: TensorFlow's other options, without effect.
    """

    def __init__(
        self, experimental_io_device: Any = None, experimental_enable_async_checkpoint: bool = False, **options: Any
    ) -> None:
        self.experimental_io_device = experimental_io_device
        self.experimental_enable_async_checkpoint = experimental_enable_async_checkpoint
        vars(self).update(options)


CheckpointView = unsupported_class(
    "tf.train.CheckpointView", "a checkpoint holds arrays by name; use tf.train.load_checkpoint(path)."
)
TrackableView = unsupported_class(
    "tf.train.TrackableView", "objects are not tracked in a graph; use tf.train.Checkpoint(name=object)."
)
