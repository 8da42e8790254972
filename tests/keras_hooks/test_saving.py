"""Models of a strategy write files that are there completely or not at all."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.keras_hooks import ScheduledCheckpoint, install_weights_folders, is_folder_path
from unisono._src.state.store import BadCheckpoint, CheckpointError
from unisono._src.training.callbacks import WEIGHTS_FOLDERS
from unisono.checkpoint import CheckpointMismatch


def _make(seed: int = 0, *, units: int = 3, optimizer: str | None = "adam") -> Any:
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(units), keras.layers.Dropout(0.5)])
    if optimizer:
        model.compile(optimizer, "mse")
    return model


@pytest.fixture
def scope() -> Iterator[None]:
    with unisono.OneDeviceStrategy("cpu:0").scope():
        yield


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook on paths without an ending, whether or not it is installed already."""
    for name in ("save_weights", "load_weights"):
        monkeypatch.setattr(keras.Model, name, getattr(keras.Model, name))
    install_weights_folders(WEIGHTS_FOLDERS)


class Moody(keras.layers.Dense):
    """Cannot always be saved to its end: the file has been begun when this raises."""

    fails = False

    def save_own_variables(self, store: Any) -> None:
        if self.fails:
            raise RuntimeError("half way")
        super().save_own_variables(store)


@pytest.mark.parametrize("name", ["model.keras", "model.weights.h5"])
def test_a_file_that_was_there_survives_a_save_that_fails(scope: None, tmp_path: Path, name: str) -> None:
    layer = Moody(2)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), layer])
    path = tmp_path / "export" / name
    _save(model, path)
    good = path.read_bytes()
    layer.fails = True
    with pytest.raises(RuntimeError, match="half way"):
        _save(model, path)
    assert path.read_bytes() == good
    assert os.listdir(tmp_path) == ["export"]
    assert os.listdir(tmp_path / "export") == [name]


@pytest.mark.parametrize("name", ["model.keras", "model.weights.h5"])
def test_a_file_is_never_seen_half_written(scope: None, tmp_path: Path, name: str) -> None:
    model = _make(units=20_000, optimizer=None)
    path = tmp_path / "export" / name
    _save(model, path)
    size, inode = path.stat().st_size, path.stat().st_ino
    seen: set[tuple[int, tuple[str, ...]]] = set()
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.add((path.stat().st_size, tuple(os.listdir(path.parent))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        _save(model, path)
    finally:
        done.set()
        watcher.join()
    assert path.stat().st_ino != inode
    assert seen == {(size, (name,))}


def test_what_was_saved_is_loaded(scope: None, tmp_path: Path) -> None:
    model = _make(optimizer=None)
    model.save(tmp_path / "model.keras")
    model.save_weights(filepath=str(tmp_path / "model.weights.h5"), overwrite=True)
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded.get_weights()[0], model.get_weights()[0])
    other = _make(1, optimizer=None)
    other.load_weights(tmp_path / "model.weights.h5")
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


def test_a_link_to_a_file_stays_a_link(scope: None, tmp_path: Path) -> None:
    (tmp_path / "link.keras").symlink_to(tmp_path / "real.keras")
    _make().save(tmp_path / "link.keras")
    assert (tmp_path / "link.keras").is_symlink()
    assert (tmp_path / "real.keras").is_file()


def test_the_user_is_asked_before_a_file_is_overwritten(
    scope: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.keras"
    path.write_text("precious")
    monkeypatch.setattr("builtins.input", lambda prompt: "n")
    _make().save(path, overwrite=False)
    assert path.read_text() == "precious"
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    _make().save(path, False, None)
    assert path.read_bytes()[:2] == b"PK"


def test_an_unzipped_model_is_kerass_own(scope: None, tmp_path: Path) -> None:
    _make().save(tmp_path / "model", zipped=False)
    assert (tmp_path / "model" / "config.json").is_file()


def test_sharded_weights_are_kerass_own(scope: None, tmp_path: Path) -> None:
    _make().save_weights(tmp_path / "model.weights.json", max_shard_size=1)
    assert (tmp_path / "model.weights.json").is_file()


WRONG_ENDINGS = """
import keras, unisono
with unisono.OneDeviceStrategy("cpu:0").scope():
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
for save, path in ((model.save, "model"), (model.save_weights, "model.h5")):
    try:
        save(path)
    except ValueError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_wrong_ending_is_kerass_error(tmp_path: Path) -> None:
    # In a process of its own: where unisono.tf is imported, models can be saved to such paths.
    command = [sys.executable, "-c", WRONG_ENDINGS]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    first, second = ended.stdout.splitlines()
    assert "`.keras`" in first
    assert "must end in `.weights.h5`" in second


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(scope: None, tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IREAD | stat.S_IEXEC)
    with pytest.raises(CheckpointError, match=r"model\.keras"):
        _make().save(tmp_path / "model.keras")


def test_a_model_of_no_strategy_is_saved_by_keras(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    _make().save(path)
    inode = path.stat().st_ino
    _make(1).save(path)
    assert path.stat().st_ino == inode


@pytest.mark.parametrize("name", ["ckpt_3", "cp-0003.ckpt", "weights.03-0.52"])
def test_weights_go_into_a_folder_if_the_path_has_no_ending(
    scope: None, folders: None, tmp_path: Path, name: str
) -> None:
    model, other = _make(0), _make(1)
    model.save_weights(tmp_path / "ckpt" / name)
    status = other.load_weights(str(tmp_path / "ckpt" / name))
    status.assert_consumed()
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    assert os.listdir(tmp_path / "ckpt") == [name]
    assert unisono.checkpoint.latest_checkpoint(tmp_path / "ckpt") == str(tmp_path / "ckpt" / name)


def test_a_model_of_no_strategy_has_folders_too(folders: None, tmp_path: Path) -> None:
    model, other = _make(0), _make(1)
    model.save_weights(tmp_path / "ckpt", save_format="tf")
    other.load_weights(tmp_path / "ckpt").expect_partial()
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


def test_the_latest_of_several_folders_is_found(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    for epoch in (9, 10, 2):
        model.save_weights(tmp_path / f"ckpt_{epoch}")
    assert unisono.checkpoint.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt_10")


def test_a_folder_holds_the_state_of_the_optimizer(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    model.fit(np.ones((4, 2)), np.ones((4, 3)), epochs=3, verbose=0)
    model.save_weights(tmp_path / "ckpt")
    other = _make(1)
    other.load_weights(tmp_path / "ckpt")
    assert int(np.asarray(other.optimizer.iterations)) == 3
    for one, another in zip(other.optimizer.variables, model.optimizer.variables, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(another))


def test_a_model_that_is_not_compiled_takes_the_weights_alone(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    model.fit(np.ones((4, 2)), np.ones((4, 3)), verbose=0)
    model.save_weights(tmp_path / "ckpt")
    other = _make(1, optimizer=None)
    other.load_weights(tmp_path / "ckpt").assert_existing_objects_matched()
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


def test_another_optimizer_begins_anew_and_says_so(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    model.fit(np.ones((4, 2)), np.ones((4, 3)), verbose=0)
    model.save_weights(tmp_path / "ckpt")
    other = _make(1, optimizer="rmsprop")
    with pytest.warns(UserWarning, match="another optimizer"):
        other.load_weights(tmp_path / "ckpt")
    assert int(np.asarray(other.optimizer.iterations)) == 0
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


def test_weights_saved_before_training_are_loaded_after_it(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    model.save_weights(tmp_path / "ckpt")
    other = _make(1)
    other.fit(np.ones((4, 2)), np.ones((4, 3)), verbose=0)
    other.load_weights(tmp_path / "ckpt")
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])


def test_weights_of_another_shape_are_refused_and_nothing_is_changed(
    scope: None, folders: None, tmp_path: Path
) -> None:
    _make().save_weights(tmp_path / "ckpt")
    other = _make(1, units=4)
    before = other.get_weights()
    with pytest.raises(CheckpointMismatch, match=r"model/dense/kernel has the shape \(2, 4\) here and \(2, 3\)"):
        other.load_weights(tmp_path / "ckpt")
    np.testing.assert_array_equal(other.get_weights()[0], before[0])
    with pytest.warns(UserWarning, match=r"left out.*model/dense/kernel"):
        other.load_weights(tmp_path / "ckpt", skip_mismatch=True)


def test_weights_that_are_too_many_or_too_few_are_refused(scope: None, folders: None, tmp_path: Path) -> None:
    small = _make(optimizer=None)
    large = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(3)])
    small.save_weights(tmp_path / "small")
    large.save_weights(tmp_path / "large")
    with pytest.raises(CheckpointMismatch, match=r"model/dense_1/kernel"):
        large.load_weights(tmp_path / "small")
    with pytest.raises(CheckpointMismatch, match=r"values without a variable: model/dense_1/kernel"):
        small.load_weights(tmp_path / "large")


def test_a_damaged_folder_is_refused(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    model.save_weights(tmp_path / "ckpt")
    largest = max((tmp_path / "ckpt").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[-1] ^= 1
    largest.write_bytes(content)
    with pytest.raises(BadCheckpoint, match="ckpt"):
        model.load_weights(tmp_path / "ckpt")


def test_a_folder_that_is_not_there_is_named_with_those_that_are(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    model.save_weights(tmp_path / "ckpt_1")
    with pytest.raises(BadCheckpoint, match=r"ckpt_2.*no such folder.*ckpt_1"):
        model.load_weights(tmp_path / "ckpt_2")


def test_a_checkpoint_of_tensorflows_is_recognised(scope: None, folders: None, tmp_path: Path) -> None:
    (tmp_path / "ckpt.index").write_bytes(b"")
    with pytest.raises(BadCheckpoint, match="is a TensorFlow checkpoint"):
        _make().load_weights(tmp_path / "ckpt")


def test_a_model_without_weights_has_nothing_to_save(scope: None, folders: None, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no weights yet"):
        keras.Sequential([keras.layers.Dense(1)]).save_weights(tmp_path / "ckpt")


def test_checkpoints_of_other_kinds_are_read(scope: None, folders: None, tmp_path: Path) -> None:
    model = _make()
    model.fit(np.ones((4, 2)), np.ones((4, 3)), verbose=0)
    checkpoint = unisono.checkpoint.Checkpoint(model=model, optimizer=model.optimizer, epoch=3)
    path = checkpoint.write(str(tmp_path / "ckpt"))
    other = _make(1)
    other.load_weights(path).assert_existing_objects_matched()
    np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    assert int(np.asarray(other.optimizer.iterations)) == 1


def test_the_user_is_asked_before_a_folder_is_overwritten(
    scope: None, folders: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _make(0), _make(1)
    first.save_weights(tmp_path / "ckpt")
    monkeypatch.setattr("builtins.input", lambda prompt: "n")
    second.save_weights(tmp_path / "ckpt", overwrite=False)
    second.load_weights(tmp_path / "ckpt")
    np.testing.assert_array_equal(second.get_weights()[0], first.get_weights()[0])


def test_which_paths_are_folders() -> None:
    assert is_folder_path("ckpt_{epoch}")
    assert is_folder_path(Path("logs/cp.ckpt"))
    assert is_folder_path("gs://bucket/ckpt")
    assert not is_folder_path("gs://bucket/model.keras")
    assert not is_folder_path("hf://user/model")
    assert not is_folder_path("w.hdf5")
    assert not is_folder_path(b"ckpt")
    assert not is_folder_path(3)


def test_keras_still_decides_and_names_where_it_did() -> None:
    stock = keras.callbacks.ModelCheckpoint
    for name in ("_save_model", "_should_save_model", "_get_file_path", "_set_monitor_op"):
        assert callable(getattr(stock, name))
    assert "_save_model" in vars(ScheduledCheckpoint)


def _save(model: Any, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    if path.name.endswith(".weights.h5"):
        model.save_weights(path)
    else:
        model.save(path)
