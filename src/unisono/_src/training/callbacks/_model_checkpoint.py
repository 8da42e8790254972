"""`ModelCheckpoint`: Keras's, and folders for weights as in TensorFlow."""

from __future__ import annotations

import os
from typing import Any, Literal

from unisono._src.keras_hooks import ScheduledCheckpoint, get_owner, is_folder_path
from unisono._src.processes import processes
from unisono._src.state.store import is_url, staged_file
from unisono._src.training.callbacks._weights_folder import save_weights_folder

NO_ENDING = """ModelCheckpoint: filepath={path!r} has no extension. tf.keras wrote a SavedModel to such a path, which
Keras 3 does not. For the whole model write {keras!r}; for the weights alone write save_weights_only=True, and leave the
path as it is."""

NOT_FOR_WEIGHTS = """ModelCheckpoint: filepath={path!r} with save_weights_only=True. Weights go into a file that ends in
'.weights.h5', or into a folder if the path has no extension: {weights!r}, or {folder!r}."""


class ModelCheckpoint(ScheduledCheckpoint):
    """Saves the model or its weights during training. Files are replaced atomically.

    With several workers, only the chief writes. The other workers make the same decisions, but write only their pieces
    of weights that are sharded over workers.

    Args:
        filepath: the path; may contain `{epoch}`, `{batch}` and names of logs, as in `"{epoch:02d}-{val_loss:.2f}"`.
            The whole model needs the extension `.keras` or `.h5`. Weights go into a `.weights.h5` file, or, for a path
            without an extension such as `"ckpt_{epoch}"`, into a folder that `model.load_weights` reads.
        monitor: the log that determines the best model.
        verbose: 1 to print what is saved.
        save_best_only: whether to save only if the monitored value is better than ever before.
        save_weights_only: whether to save only the weights, with the optimizer state, instead of the whole model.
        mode: "min", "max", or "auto" to infer it from the name.
        save_freq: "epoch", or a number of steps.
        initial_value_threshold: the value that the first saved model has to improve on.

    ```python
    checkpoint = unisono.callbacks.ModelCheckpoint("ckpt/ckpt_{epoch}", save_weights_only=True)
    model.fit(x, y, epochs=10, callbacks=[checkpoint])
    model.load_weights(unisono.checkpoint.latest_checkpoint("ckpt"))
    ```
    """

    def __init__(
        self,
        filepath: str | os.PathLike[str],
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: Literal["auto", "min", "max"] = "auto",
        save_freq: Literal["epoch"] | int = "epoch",
        initial_value_threshold: float | None = None,
    ):
        path = os.fspath(filepath)
        _check(path, save_weights_only)
        super().__init__(
            f"{path}.weights.h5" if is_folder_path(path) else path,  # Keras refuses paths without an extension
            monitor=monitor,
            verbose=verbose,
            save_best_only=save_best_only,
            save_weights_only=save_weights_only,
            mode=mode,
            save_freq=save_freq,
            initial_value_threshold=initial_value_threshold,
        )
        self.filepath = path

    def write(self, path: str) -> None:
        """Saves the model to ``path``. Called on every process."""
        if is_folder_path(path):
            save_weights_folder(self.model, path)
        elif get_owner(self.model) is not None or is_url(path):
            self._save(path)
        elif processes().is_chief:  # Keras's own method would write into a file that may be read at the same time
            with staged_file(path) as temporary:
                self._save(os.fspath(temporary))

    def _save(self, path: str) -> Any:
        save = self.model.save_weights if self.save_weights_only else self.model.save
        return save(path, overwrite=True)


def _check(path: str, save_weights_only: bool) -> None:
    stem = path.removesuffix(".hdf5").removesuffix(".h5").removesuffix(".keras")
    if not save_weights_only and is_folder_path(path):
        raise ValueError(NO_ENDING.format(path=path, keras=f"{path}.keras"))
    if save_weights_only and not is_folder_path(path) and not path.endswith(".weights.h5"):
        raise ValueError(NOT_FOR_WEIGHTS.format(path=path, weights=f"{stem}.weights.h5", folder=stem))
