"""Keras's own callbacks are exchanged for ours; users' stay."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import pytest

from tests.training.callbacks import _driver as driver
from tests.training.callbacks._events import steps_of
from unisono._src.training.callbacks import replace_stock_callbacks
from unisono.callbacks import BackupAndRestore, ModelCheckpoint, TensorBoard
from unisono.checkpoint import EverySteps

pytestmark = pytest.mark.slow

Make = Callable[..., Any]


def test_the_three_are_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    stopping = keras.callbacks.EarlyStopping()
    callbacks = [
        keras.callbacks.TensorBoard(tmp_path),
        stopping,
        keras.callbacks.ModelCheckpoint("model.keras"),
        keras.callbacks.BackupAndRestore("backup"),
    ]
    result = replace_stock_callbacks(callbacks)
    assert [type(callback) for callback in result] == [
        TensorBoard,
        keras.callbacks.EarlyStopping,
        ModelCheckpoint,
        BackupAndRestore,
    ]
    assert result[1] is stopping


def test_subclasses_and_replacements_are_left_alone(tmp_path: Path) -> None:
    class Mine(keras.callbacks.ModelCheckpoint):
        pass

    class MyBoard(keras.callbacks.TensorBoard):
        pass

    callbacks = [Mine("model.keras"), MyBoard(tmp_path), ModelCheckpoint("model.keras"), TensorBoard(tmp_path)]
    assert [id(callback) for callback in replace_stock_callbacks(callbacks)] == [id(callback) for callback in callbacks]


def test_the_object_that_was_passed_knows_the_best(make_model: Make, tmp_path: Path) -> None:
    stock = keras.callbacks.ModelCheckpoint(tmp_path / "{epoch}.keras", save_best_only=True)
    [ours] = replace_stock_callbacks([stock])
    driver.begin(ours, make_model())
    driver.epoch(ours, 0, loss=0.5, val_loss=0.25)
    assert stock.best == 0.25
    assert stock.model is ours.model
    assert (tmp_path / "1.keras").is_file()


def test_a_stock_tensorboard_writes_without_tensorflow(make_model: Make, tmp_path: Path) -> None:
    [ours] = replace_stock_callbacks([keras.callbacks.TensorBoard(tmp_path, update_freq="batch")])
    driver.begin(ours, make_model())
    driver.epoch(ours, 0, calls=(1, 1), loss=0.5)
    ours.on_train_end()
    assert steps_of(tmp_path / "train")["batch_loss"] == [1, 2]


def test_the_profiled_steps_are_taken_over(tmp_path: Path) -> None:
    stock = keras.callbacks.TensorBoard(tmp_path)
    stock._init_profile_batch((3, 5))  # its constructor drops it on Python 3.11
    assert replace_stock_callbacks([stock])[0].profile_batch == (3, 5)


def test_a_stock_backup_is_described(tmp_path: Path) -> None:
    stock = keras.callbacks.BackupAndRestore(str(tmp_path), save_freq=7, double_checkpoint=True)
    [ours] = replace_stock_callbacks([stock])
    assert (ours.directory, ours.policy, ours.keep, ours.delete_checkpoint) == (tmp_path, EverySteps(7), 2, True)


def test_a_stock_backup_that_would_never_save_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="save_freq=False"):
        replace_stock_callbacks([keras.callbacks.BackupAndRestore(str(tmp_path), save_freq=False)])


def test_replacing_may_be_repeated(make_model: Make, tmp_path: Path) -> None:
    stock = keras.callbacks.ModelCheckpoint(tmp_path / "model.keras")
    first, second = replace_stock_callbacks([stock])[0], replace_stock_callbacks([stock])[0]
    first.best = 0.5
    assert second.best == 0.5
