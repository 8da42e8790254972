"""`model.export(folder)`: what `tf.saved_model` writes. Keras's own needs TensorFlow. Happens when this is imported."""

from __future__ import annotations

import os
from typing import Any

import keras

from unisono.tf.saved_model._save import export_model

_export_by_keras = keras.Model.export


def _export(
    self: Any,
    filepath: str | os.PathLike[str],
    format: str = "tf_saved_model",
    verbose: Any = None,
    input_signature: Any = None,
    **kwargs: Any,
) -> None:
    """Writes the prediction of a built model as a folder for `tf.saved_model.load`; other formats are Keras's."""
    if format != "tf_saved_model":
        _export_by_keras(self, filepath, format, verbose, input_signature, **kwargs)
        return
    if kwargs:
        raise TypeError(f"export() got unexpected arguments: {', '.join(sorted(kwargs))}.")
    export_model(self, filepath, input_signature)


keras.Model.export = _export
