"""Keras's callbacks that Unisono has its own of are exchanged for them."""

from __future__ import annotations

from typing import Any, Final

import keras

from unisono._src.keras_hooks import profiled_batches
from unisono._src.training.callbacks._backup_and_restore import BackupAndRestore
from unisono._src.training.callbacks._model_checkpoint import ModelCheckpoint
from unisono._src.training.callbacks._tensorboard import TensorBoard

_OURS: Final[dict[type, type]] = {
    keras.callbacks.BackupAndRestore: BackupAndRestore,
    keras.callbacks.ModelCheckpoint: ModelCheckpoint,
    keras.callbacks.TensorBoard: TensorBoard,
}


def replace_stock_callbacks(callbacks: Any) -> Any:
    """What a user passes as callbacks, with ours in place of Keras's TensorBoard, ModelCheckpoint and BackupAndRestore.

    A list; a ready `CallbackList` is the user's, and stays as it is. So do subclasses of the three, which are
    somebody's own. Ours has the attributes of the one it replaces, the very same ones: after `fit` a user may read
    `best` from the object that was passed.

    >>> stock = keras.callbacks.ModelCheckpoint("best.keras", save_best_only=True)
    >>> [ours] = replace_stock_callbacks([stock])
    >>> ours.best = 0.5
    >>> type(ours).__module__, stock.best
    ('unisono._src.training.callbacks._model_checkpoint', 0.5)
    """
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return callbacks
    return [_ours(callback) for callback in (keras.tree.flatten(callbacks) if callbacks else [])]


def _ours(callback: Any) -> Any:
    kind = _OURS.get(type(callback))
    if kind is None:
        return callback
    ours: Any = object.__new__(kind)
    ours.__dict__ = callback.__dict__
    if kind is TensorBoard:
        ours.profile_batch = profiled_batches(callback)
    if kind is BackupAndRestore:
        ours.policy  # noqa: B018  (raises if there is none for what Keras accepted)
    return ours
