"""Callbacks that work with checkpoints, several workers and resumed runs. `fit` replaces Keras's own by these."""

from unisono._src.training.callbacks import BackupAndRestore, MLflow, ModelCheckpoint, TensorBoard, Wandb

__all__ = [
    "BackupAndRestore", "MLflow", "ModelCheckpoint", "TensorBoard", "Wandb",
]
