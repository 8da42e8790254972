"""Replaces Keras's TensorBoard, ModelCheckpoint and BackupAndRestore by those of this package."""

from __future__ import annotations

from typing import Any, Final

import keras

from unisono._src.keras_hooks import profiled_batches
from unisono._src.training.callbacks._backup_and_restore import BackupAndRestore
from unisono._src.training.callbacks._model_checkpoint import ModelCheckpoint
from unisono._src.training.callbacks._tensorboard import TensorBoard

_REPLACEMENTS: Final[dict[type, type]] = {
    keras.callbacks.BackupAndRestore: BackupAndRestore,
    keras.callbacks.ModelCheckpoint: ModelCheckpoint,
    keras.callbacks.TensorBoard: TensorBoard,
}


def replace_stock_callbacks(callbacks: Any) -> Any:
    """The callbacks that a user passes as a list, with Keras's three replaced.

    A ready `CallbackList` stays as it is. So do subclasses of the three, which are custom callbacks. A replacement
    shares the attributes of the callback that it replaces, by reference: after `fit` a user may read `best` from the
    object that was passed.

    >>> stock = keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True)
    >>> [replacement] = replace_stock_callbacks([stock])
    >>> replacement.best = 0.5
    >>> type(replacement).__module__, stock.best
    ('unisono._src.training.callbacks._model_checkpoint', 0.5)
    """
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    return [_replace(callback) for callback in (keras.tree.flatten(callbacks) if callbacks else [])]


def _replace(callback: Any) -> Any:
    kind = _REPLACEMENTS.get(type(callback))
    if kind is None:
        return callback
    replacement: Any = object.__new__(kind)
    replacement.__dict__ = callback.__dict__
    if kind is TensorBoard:
        replacement.profile_batch = profiled_batches(callback)
    if kind is BackupAndRestore:
        replacement.policy  # noqa: B018  (raises for a save_freq that only Keras accepts)
    return replacement
