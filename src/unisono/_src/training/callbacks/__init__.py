"""Callbacks that know of checkpoints, workers and resumes. In `fit` they take the place of Keras's own."""

from unisono._src.training.callbacks._backup_and_restore import BackupAndRestore
from unisono._src.training.callbacks._model_checkpoint import ModelCheckpoint
from unisono._src.training.callbacks._replace_stock import replace_stock_callbacks
from unisono._src.training.callbacks._tensorboard import TensorBoard
from unisono._src.training.callbacks._weights_folder import WEIGHTS_FOLDERS
