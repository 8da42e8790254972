"""`tf.keras.callbacks`: the callbacks of Keras and Unisono, with the arguments of Keras 2."""

from __future__ import annotations

import os
from typing import Any

import keras

from unisono import callbacks
from unisono._src.keras_hooks import is_folder_path
from unisono._src.training.callbacks import BackupAndRestore
from unisono.tf.keras._keras_fallback import keras_fallback


class ModelCheckpoint(callbacks.ModelCheckpoint):
    """`unisono.callbacks.ModelCheckpoint`, which also writes whole models to folders, and weights to `.h5` files.

    Args:
        filepath: the path; without an extension it is a folder, of weights or of the whole model.
        *args: those of the base class.
        period: Keras 2's argument, the number of epochs between checkpoints.
        options: accepted, without effect.
        load_weights_on_restart: accepted if it is false.
        **kwargs: those of the base class.
    """

    def __init__(
        self,
        filepath: str | os.PathLike[str],
        *args: Any,
        period: int = 1,
        options: Any = None,
        load_weights_on_restart: bool = False,
        **kwargs: Any,
    ) -> None:
        if load_weights_on_restart:
            raise ValueError("load_weights_on_restart=True is not available. Use tf.keras.callbacks.BackupAndRestore.")
        path = os.fspath(filepath)
        weights_only = args[3] if len(args) > 3 else kwargs.get("save_weights_only", False)
        super().__init__(_with_extension(path, weights_only), *args, **kwargs)
        self.filepath = path
        self.period = period

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Saves every ``period`` epochs."""
        if self.save_freq != "epoch" or (epoch + 1) % self.period == 0:
            super().on_epoch_end(epoch, logs)

    def write(self, path: str) -> None:
        """Saves the model to ``path``, on the chief."""
        if is_folder_path(path) and not self.save_weights_only:
            self.model.save(path)
        else:
            super().write(path)


class TensorBoard(callbacks.TensorBoard):
    """`unisono.callbacks.TensorBoard`. Removed arguments of Keras 2 are accepted, without effect.

    Args:
        *args: those of the base class.
        write_grads: accepted; TensorFlow 2 does not write gradients either.
        batch_size: accepted; histograms do not need it.
        embeddings_layer_names: accepted.
        embeddings_data: accepted.
        **kwargs: those of the base class.
    """

    def __init__(
        self,
        *args: Any,
        write_grads: bool = False,
        batch_size: int | None = None,
        embeddings_layer_names: Any = None,
        embeddings_data: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)


class ReduceLROnPlateau(keras.callbacks.ReduceLROnPlateau):
    """Keras's callback; `epsilon` is an old name of `min_delta`."""

    def __init__(self, *args: Any, epsilon: float | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs if epsilon is None else kwargs | {"min_delta": epsilon}))


class experimental:  # noqa: N801  (a name of TensorFlow's)
    """`tf.keras.callbacks.experimental`."""

    BackupAndRestore = BackupAndRestore


def _with_extension(path: str, weights_only: bool) -> str:
    """A path with an extension that the base class accepts; the true path is set afterwards."""
    if not weights_only and is_folder_path(path):
        return f"{path}.keras"
    if weights_only and path.endswith((".h5", ".hdf5")) and not path.endswith(".weights.h5"):
        return f"{path}.weights.h5"
    return path


__getattr__ = keras_fallback(globals(), "tf.keras.callbacks", keras.callbacks)
