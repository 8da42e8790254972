"""ModelCheckpoint: Keras's decisions, TensorFlow's paths, whole files."""

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tests.training.callbacks import _driver as driver
from unisono._src.state.store import load
from unisono._src.training.callbacks._weights_folder import load_weights_folder
from unisono.callbacks import ModelCheckpoint
from unisono.checkpoint import latest_checkpoint

pytestmark = pytest.mark.slow

Make = Callable[..., Any]
XY = tuple[np.ndarray, np.ndarray]


@pytest.mark.parametrize("scoped", [True, False])
def test_a_path_as_tensorflow_had_it_is_a_folder_for_each_epoch(
    make_model: Make, xy: XY, tmp_path: Path, scoped: bool
) -> None:
    model = make_model(scoped=scoped)
    callback = ModelCheckpoint(tmp_path / "ckpt" / "ckpt_{epoch}", save_weights_only=True)
    model.fit(*xy, epochs=3, batch_size=16, callbacks=[callback], verbose=0)
    assert sorted(os.listdir(tmp_path / "ckpt")) == ["ckpt_1", "ckpt_2", "ckpt_3"]
    assert load(tmp_path / "ckpt" / "ckpt_2").step == 8
    latest = latest_checkpoint(tmp_path / "ckpt")
    assert latest == str(tmp_path / "ckpt" / "ckpt_3")
    other = make_model(1, scoped=scoped)
    load_weights_folder(other, latest).assert_consumed()
    for one, another in zip(other.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, another)


def test_names_are_formatted_from_epoch_and_logs(make_model: Make, tmp_path: Path) -> None:
    callback = ModelCheckpoint(tmp_path / "cp-{epoch:02d}-{val_loss:.2f}.ckpt", save_weights_only=True)
    driver.begin(callback, make_model())
    driver.epoch(callback, 0, loss=0.5, val_loss=0.123)
    driver.epoch(callback, 9, loss=0.5, val_loss=0.456)
    assert sorted(os.listdir(tmp_path)) == ["cp-01-0.12.ckpt", "cp-10-0.46.ckpt"]


@pytest.mark.parametrize("name", ["{epoch}.keras", "{epoch}.weights.h5", "ckpt_{epoch}"])
def test_only_what_is_better_is_saved(make_model: Make, tmp_path: Path, name: str) -> None:
    callback = ModelCheckpoint(
        tmp_path / name, save_best_only=True, save_weights_only=not name.endswith(".keras"), monitor="val_loss"
    )
    driver.begin(callback, make_model())
    for number, val_loss in enumerate([0.5, 0.7, 0.4, 0.4]):
        driver.epoch(callback, number, loss=0.5, val_loss=val_loss)
    assert sorted(os.listdir(tmp_path)) == [name.format(epoch=1), name.format(epoch=3)]
    assert callback.best == 0.4


def test_the_best_is_known_within_the_first_epoch(make_model: Make, tmp_path: Path) -> None:
    """Keras learns only at the end of an epoch whether less is better, and fails here."""
    callback = ModelCheckpoint(
        tmp_path / "ckpt_{batch}", monitor="loss", save_best_only=True, save_weights_only=True, save_freq=2
    )
    driver.begin(callback, make_model())
    callback.on_epoch_begin(0)
    for batch, loss in enumerate([0.5, 0.5, 0.6, 0.6, 0.4, 0.4]):
        callback.on_train_batch_end(batch, {"loss": loss})
    assert sorted(os.listdir(tmp_path)) == ["ckpt_2", "ckpt_6"]


def test_a_name_without_a_number_is_written_over_and_over(make_model: Make, tmp_path: Path) -> None:
    model = make_model()
    callback = ModelCheckpoint(tmp_path / "latest", save_weights_only=True)
    driver.begin(callback, model)
    for number in range(3):
        model.set_weights([weight + 1 for weight in model.get_weights()])
        driver.epoch(callback, number, loss=0.5)
        np.testing.assert_array_equal(
            load(tmp_path / "latest").arrays["model/first/kernel"], np.asarray(model.get_layer("first").kernel)
        )
    assert os.listdir(tmp_path) == ["latest"]


@pytest.mark.parametrize("scoped", [True, False])
@pytest.mark.parametrize("name", ["model.keras", "model.weights.h5"])
def test_files_are_whole_for_every_model(make_model: Make, xy: XY, tmp_path: Path, scoped: bool, name: str) -> None:
    callback = ModelCheckpoint(tmp_path / "new" / name, save_weights_only=name.endswith(".h5"))
    model = make_model(scoped=scoped)
    model.fit(*xy, batch_size=16, callbacks=[callback], verbose=0)
    first = (tmp_path / "new" / name).stat().st_ino
    model.fit(*xy, batch_size=16, callbacks=[callback], verbose=0)
    assert (tmp_path / "new" / name).stat().st_ino != first  # exchanged, not written into
    assert os.listdir(tmp_path / "new") == [name]
    if name.endswith(".keras"):
        loaded = keras.models.load_model(tmp_path / "new" / name)
        np.testing.assert_array_equal(loaded.get_weights()[0], model.get_weights()[0])


def test_what_is_done_is_said(make_model: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    callback = ModelCheckpoint(tmp_path / "ckpt_{epoch}", save_weights_only=True, verbose=1)
    driver.begin(callback, make_model())
    driver.epoch(callback, 0, loss=0.5)
    said = capsys.readouterr().out
    assert f"Epoch 1: saving model to {tmp_path / 'ckpt_1'}" in said
    assert f"Epoch 1: finished saving model to {tmp_path / 'ckpt_1'}" in said


def test_a_whole_model_needs_an_extension() -> None:
    with pytest.raises(ValueError, match=r"(?s)'saved_model' has no extension.*write 'saved_model\.keras'"):
        ModelCheckpoint("saved_model")


@pytest.mark.parametrize("path", ["w.h5", "w.hdf5", "w.keras"])
def test_weights_do_not_go_into_such_files(path: str) -> None:
    with pytest.raises(ValueError, match=r"(?s)'w\.weights\.h5', or 'w'"):
        ModelCheckpoint(path, save_weights_only=True)


def test_a_frequency_without_meaning_is_kerass_error() -> None:
    with pytest.raises(ValueError, match="Unrecognized save_freq"):
        ModelCheckpoint("model.keras", save_freq="step")


def test_arguments_are_those_of_keras() -> None:
    ours = inspect.signature(ModelCheckpoint).parameters
    theirs = inspect.signature(keras.callbacks.ModelCheckpoint).parameters
    assert {name: each.default for name, each in ours.items()} == {name: each.default for name, each in theirs.items()}
