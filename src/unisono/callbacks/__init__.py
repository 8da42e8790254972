"""Callbacks that know of checkpoints, workers and resumes. In `fit` they take the place of Keras's own."""

from unisono.callbacks._backup_and_restore import BackupAndRestore as BackupAndRestore
from unisono.callbacks._exchange import exchanged as exchanged
from unisono.callbacks._model_checkpoint import ModelCheckpoint as ModelCheckpoint
from unisono.callbacks._tensorboard import TensorBoard as TensorBoard
from unisono.callbacks._weights_folder import WEIGHTS_FOLDERS as WEIGHTS_FOLDERS
