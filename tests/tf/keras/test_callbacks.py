"""Callbacks with the arguments of Keras 2."""

import os
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorboardX  # noqa: F401  (sets a variable of the environment when it is first imported)

import unisono.tf as tf
from unisono.checkpoint import latest_checkpoint

X, Y = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")


@pytest.fixture
def model() -> Any:
    with tf.keras.utils.custom_object_scope({}):
        made = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    made.compile(tf.keras.optimizers.SGD(0.1), "mse")
    return made


def fit(model: Any, *callbacks: Any, epochs: int = 2) -> Any:
    return model.fit(X, Y, epochs=epochs, verbose=0, callbacks=list(callbacks)).history


def test_weights_go_into_folders_that_are_found_again(model: Any, tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "ckpt_{epoch}")
    fit(model, tf.keras.callbacks.ModelCheckpoint(path, save_weights_only=True))
    latest = latest_checkpoint(tmp_path)
    assert latest is not None
    assert Path(latest).name == "ckpt_2"
    weights = model.get_weights()
    fit(model)
    model.load_weights(latest)
    np.testing.assert_array_equal(model.get_weights()[0], weights[0])


def test_a_model_goes_into_a_folder_every_second_epoch(model: Any, tmp_path: Path) -> None:
    fit(model, tf.keras.callbacks.ModelCheckpoint(tmp_path / "at_{epoch}", period=2), epochs=4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["at_2", "at_4"]
    loaded = tf.keras.models.load_model(tmp_path / "at_4")
    np.testing.assert_array_equal(loaded.get_weights()[0], model.get_weights()[0])


def test_weights_go_into_h5_files(model: Any, tmp_path: Path) -> None:
    path = os.fspath(tmp_path / "w.{epoch:02d}.h5")
    fit(model, tf.keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True, save_weights_only=True))
    assert sorted(os.listdir(tmp_path)) == ["w.01.h5", "w.02.h5"]
    weights = model.get_weights()
    model.load_weights(tmp_path / "w.01.h5")
    assert not np.array_equal(model.get_weights()[0], weights[0])
    model.load_weights(tmp_path / "w.02.h5")
    np.testing.assert_array_equal(model.get_weights()[0], weights[0])
    with pytest.raises(ValueError, match="BackupAndRestore"):
        tf.keras.callbacks.ModelCheckpoint(path, load_weights_on_restart=True)


def test_a_callback_reads_and_sets_the_learning_rate(model: Any) -> None:
    seen = []

    class Halving(tf.keras.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            seen.append(float(self.model.optimizer.lr.numpy()))
            tf.keras.backend.set_value(self.model.optimizer.lr, self.model.optimizer.lr * 0.5)

    fit(model, Halving())
    assert seen == pytest.approx([0.1, 0.05])
    assert tf.keras.backend.get_value(model.optimizer.lr) == pytest.approx(0.025)


def test_schedules_and_plateaus_are_keras_own(model: Any) -> None:
    history = fit(model, tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1)))
    assert history["learning_rate"] == pytest.approx([0.1, 0.05])
    plateau = tf.keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=1, epsilon=100.0, factor=0.5)
    assert plateau.min_delta == 100.0
    fit(model, plateau, tf.keras.callbacks.EarlyStopping(monitor="loss"))
    assert float(model.optimizer.lr) == pytest.approx(0.025)


def test_old_arguments_of_tensorboard_are_taken(model: Any, tmp_path: Path) -> None:
    fit(model, tf.keras.callbacks.TensorBoard(tmp_path, write_grads=True, batch_size=32))
    assert list(tmp_path.glob("train/*tfevents*"))


def test_backup_and_restore_works_without_a_strategy(model: Any, tmp_path: Path) -> None:
    assert tf.keras.callbacks.experimental.BackupAndRestore is tf.keras.callbacks.BackupAndRestore

    class Stop(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if epoch == 1:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(model, tf.keras.callbacks.BackupAndRestore(tmp_path / "backup"), Stop())
    history = fit(model, tf.keras.callbacks.BackupAndRestore(tmp_path / "backup"), epochs=3)
    assert len(history["loss"]) == 3


@pytest.mark.parametrize(
    "rate",
    [
        lambda rate: tf.constant(rate) * tf.math.exp(-0.1),
        lambda rate: tf.reshape(rate * tf.math.exp(-0.1), [1]),
        lambda rate: np.float32(rate * np.exp(-0.1)),
        lambda rate: tf.Variable(rate * np.exp(-0.1)),
    ],
)
def test_a_schedule_may_return_a_tensor_of_one_number(model: Any, rate: Any) -> None:
    history = fit(model, keras.callbacks.LearningRateScheduler(lambda epoch, before: rate(before)))
    assert history["learning_rate"] == pytest.approx([0.1 * np.exp(-0.1), 0.1 * np.exp(-0.2)], rel=1e-5)


def test_a_schedule_that_returns_several_numbers_is_an_error(model: Any) -> None:
    with pytest.raises(ValueError, match="should be a float"):
        fit(model, tf.keras.callbacks.LearningRateScheduler(lambda epoch: tf.constant([0.1, 0.2])))


def test_a_history_answers_to_the_old_name_of_the_learning_rate(model: Any) -> None:
    history = fit(model, tf.keras.callbacks.ReduceLROnPlateau(monitor="loss"))
    assert history["lr"] == history.get("lr") == history["learning_rate"] == pytest.approx([0.1, 0.1])
    assert "lr" in history
    assert sorted(history) == ["learning_rate", "loss"]
    without = fit(model)
    assert "lr" not in without
    assert without.get("lr") is None
    with pytest.raises(KeyError):
        without["lr"]


def test_a_history_holds_the_epochs_before_a_restart(model: Any, tmp_path: Path) -> None:
    class Failing(tf.keras.callbacks.Callback):
        fails = True

        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if epoch == 1 and self.fails:
                raise InterruptedError

    failing = Failing()
    schedule = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1)

    def train() -> Any:
        backup = tf.keras.callbacks.BackupAndRestore(tmp_path)
        return model.fit(X, Y, epochs=2, verbose=0, callbacks=[backup, schedule, failing])

    with pytest.raises(InterruptedError):
        train()
    failing.fails = False
    history = train()
    assert history.epoch == [0, 1]
    assert history.history["lr"] == pytest.approx([0.1, 0.1])
