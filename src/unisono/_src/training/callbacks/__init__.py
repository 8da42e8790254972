"""Callbacks that work with checkpoints, several workers and resumed runs. `fit` replaces Keras's own by these."""

from unisono._src.training.callbacks._backup_and_restore import BackupAndRestore
from unisono._src.training.callbacks._mlflow import MLflow
from unisono._src.training.callbacks._model_checkpoint import ModelCheckpoint
from unisono._src.training.callbacks._replace_stock import replace_stock_callbacks
from unisono._src.training.callbacks._tensorboard import TensorBoard
from unisono._src.training.callbacks._wandb import Wandb
from unisono._src.training.callbacks._weights_folder import WEIGHTS_FOLDERS
