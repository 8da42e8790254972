"""Keras's own callbacks work as they are, at the boundaries of calls."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

XY = tuple[np.ndarray, np.ndarray]
Make = Callable[..., Any]


@pytest.mark.slow
def test_model_checkpoint_with_a_frequency_saves_at_exactly_those_steps(
    make_model: Make, xy: XY, tmp_path: Path
) -> None:
    model = make_model()
    path = str(tmp_path / "{epoch}-{batch}.weights.h5")
    checkpoint = keras.callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=4)
    model.fit(*xy, batch_size=4, epochs=2, callbacks=[checkpoint], verbose=0)  # 6 steps an epoch
    assert sorted(file.name for file in tmp_path.iterdir()) == ["1-4.weights.h5", "2-2.weights.h5", "2-6.weights.h5"]
    restored = make_model()
    restored.build_from_config(model.get_build_config())
    restored.fit(*xy, batch_size=4, steps_per_epoch=1, verbose=0)
    restored.load_weights(tmp_path / "1-4.weights.h5")
    assert int(restored.optimizer.iterations.numpy()) == 4


def test_model_checkpoint_by_epoch_writes_models_that_load(make_model: Make, xy: XY, tmp_path: Path) -> None:
    model = make_model()
    model.fit(*xy, epochs=2, callbacks=[keras.callbacks.ModelCheckpoint(str(tmp_path / "{epoch}.keras"))], verbose=0)
    loaded = keras.models.load_model(tmp_path / "2.keras")
    np.testing.assert_array_equal(loaded.get_weights()[0], model.get_weights()[0])


@pytest.mark.slow
def test_early_stopping_stops_and_restores_the_best_weights(make_model: Make, xy: XY) -> None:
    model = make_model(optimizer=keras.optimizers.SGD(-0.5))  # gets worse with every epoch
    stopping = keras.callbacks.EarlyStopping(monitor="loss", patience=1, restore_best_weights=True)
    history = model.fit(*xy, epochs=9, batch_size=8, shuffle=False, callbacks=[stopping], verbose=0)
    assert len(history.epoch) == 2
    assert stopping.best_epoch == 0


def test_reduce_lr_on_plateau_lowers_the_learning_rate(make_model: Make, xy: XY) -> None:
    model = make_model(optimizer=keras.optimizers.SGD(0.4))
    plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=0, min_delta=10.0)
    history = model.fit(*xy, epochs=3, callbacks=[plateau], verbose=0).history
    assert history["learning_rate"] == pytest.approx([0.4, 0.4, 0.2])


def test_a_scheduled_learning_rate_takes_effect_in_the_epoch_it_is_set(make_model: Make, xy: XY) -> None:
    model = make_model()
    before = model.get_weights()
    scheduler = keras.callbacks.LearningRateScheduler(lambda epoch: 0.0 if epoch == 0 else 0.1)
    model.fit(*xy, epochs=1, callbacks=[scheduler], verbose=0)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])
    model.fit(*xy, initial_epoch=1, epochs=2, callbacks=[scheduler], verbose=0)
    assert not np.array_equal(model.get_weights()[0], before[0])


def test_csv_logger_writes_one_line_an_epoch(make_model: Make, xy: XY, tmp_path: Path) -> None:
    make_model().fit(*xy, epochs=3, callbacks=[keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))], verbose=0)
    assert len((tmp_path / "log.csv").read_text().splitlines()) == 4


def test_backup_and_restore_resumes_with_the_next_epoch(make_model: Make, xy: XY, tmp_path: Path) -> None:
    class Crash(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            if epoch == 2:
                raise KeyboardInterrupt

    backup = keras.callbacks.BackupAndRestore(str(tmp_path / "backup"))
    with pytest.raises(KeyboardInterrupt):
        make_model().fit(*xy, epochs=4, callbacks=[backup, Crash()], verbose=0)
    begun = []

    class Note(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
            begun.append(epoch)

    again = keras.callbacks.BackupAndRestore(str(tmp_path / "backup"))
    history = make_model().fit(*xy, epochs=4, callbacks=[again, Note()], verbose=0)
    assert begun == [2, 3]
    assert history.epoch == [0, 1, 2, 3]


@pytest.mark.full
def test_swapped_averaged_weights_are_those_that_are_validated_and_those_that_stay(make_model: Make, xy: XY) -> None:
    def train(epochs: int, **arguments: Any) -> Any:
        model = make_model(optimizer=keras.optimizers.Adam(0.1, use_ema=True, ema_momentum=0.5))
        model.fit(*xy, batch_size=8, epochs=epochs, shuffle=False, verbose=0, **arguments)
        return model

    swapped = train(2, validation_data=xy, callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=True)])
    # Without the callback the averages become the weights at the end of `fit`.
    averaged = [train(1), train(2)]
    losses = [model.evaluate(*xy, verbose=0, return_dict=True)["loss"] for model in averaged]
    assert losses[0] != losses[1]
    np.testing.assert_allclose(swapped.history.history["val_loss"], losses, rtol=1e-6)
    for one, other in zip(swapped.get_weights(), averaged[1].get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_ready_callback_list_is_used_as_it_is(make_model: Make, xy: XY) -> None:
    model = make_model()
    callbacks = keras.callbacks.CallbackList([], add_history=True, model=model, epochs=1, verbose=0, steps=1)
    model.fit(*xy, callbacks=callbacks, verbose=0)
    assert model.history.epoch == [0]
