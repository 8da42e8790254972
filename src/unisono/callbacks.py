"""Callbacks that work with checkpoints, several workers and resumed runs. `fit` replaces Keras's own by these."""

from unisono._src.training.callbacks import BackupAndRestore, ModelCheckpoint, TensorBoard

__all__ = [
    "BackupAndRestore", "ModelCheckpoint", "TensorBoard",
]
