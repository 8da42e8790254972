"""A checkpoint that somebody else has edited sets only what each callback declares, and touches no other file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.state.store import commit, load
from unisono._src.training import _resume as resume_module
from unisono.checkpoint import EveryEpoch

X = np.ones((8, 2), "float32")
Y = np.ones((8, 1), "float32")
VICTIM = "all my data\n" * 100


class Naive(keras.callbacks.Callback):
    """A callback whose `set_state` stores every name that it is given."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path, self.count, self.best, self.phase = str(path), 0, None, "start"

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.count, self.best, self.phase = self.count + 1, logs["loss"], "middle"
        Path(self.path).write_text(str(self.count))

    def get_state(self) -> dict[str, Any]:
        best = {} if self.best is None else {"best": self.best}
        return {"count": self.count, "phase": self.phase, "seen": {}, **best}

    def set_state(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


def _callbacks(folder: Path) -> list[Any]:
    return [
        keras.callbacks.CSVLogger(str(folder / "log.csv")),
        keras.callbacks.EarlyStopping("loss", patience=100, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau("loss", patience=1, min_delta=10.0),
        keras.callbacks.ModelCheckpoint(folder / "best.weights.h5", monitor="loss", save_weights_only=True),
        keras.callbacks.TensorBoard(folder / "logs", write_graph=False),
        keras.callbacks.SwapEMAWeights(),
        keras.callbacks.TerminateOnNaN(),
        Naive(folder / "count.txt"),
    ]


def _fit(model: Any, folder: Path, epochs: int, callbacks: list[Any] | None = None) -> Any:
    resume = unisono.Resume(folder / "run", policy=EveryEpoch())
    return model.fit(X, Y, epochs=epochs, verbose=0, resume=resume, callbacks=callbacks or _callbacks(folder))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A model, and a folder with a checkpoint after two epochs."""
    folder = tmp_path_factory.mktemp("trained")
    keras.utils.set_random_seed(0)
    with unisono.OneDeviceStrategy("cpu:0").scope():
        model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
        model.compile(keras.optimizers.SGD(0.01, use_ema=True), "mse")
    _fit(model, folder, 2)
    return model, folder


@pytest.fixture(autouse=True)
def new_process() -> Iterator[None]:
    """As if the script were started again: its first `fit` is the first of the run."""
    resume_module._finished.clear()
    yield
    resume_module._finished.clear()


def _tamper(folder: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    """Adds a checkpoint that has the right checksums and is newer than all others."""
    saves = folder / "run" / "checkpoints" / "fit-1"
    newest = max(saves.iterdir(), key=lambda path: int(path.name.split("-")[1]))
    found = load(newest)
    edit(found.state)
    facts = {name: value for name, value in found.info.items() if name not in ("python", "numpy", "safetensors")}
    commit(saves / "save-99", arrays=found.arrays, state=found.state, step=found.step, info=facts)


def _set(callback: str, *keys: str) -> Callable[[Any], Callable[[dict[str, Any]], None]]:
    def with_value(value: Any) -> Callable[[dict[str, Any]], None]:
        def edit(state: dict[str, Any]) -> None:
            inside = state["callbacks"][f"{callback}-0"]
            for key in keys[:-1]:
                inside = inside.setdefault(key, {})
            inside[keys[-1]] = value

        return edit

    return with_value


ATTACKS = [
    pytest.param(_set("CSVLogger", "attributes", "filename")("/VICTIM"), "filename", id="path of CSVLogger"),
    pytest.param(
        _set("ModelCheckpoint", "attributes", "filepath")("/VICTIM"), "filepath", id="path of ModelCheckpoint"
    ),
    pytest.param(
        _set("TensorBoard", "own", "runs", "train", "mark")("../../victim"), "mark", id="files of TensorBoard"
    ),
    pytest.param(_set("Naive", "own", "path")("/VICTIM"), "path", id="path of a user-defined callback"),
    pytest.param(_set("EarlyStopping", "attributes", "best")("/VICTIM"), "best", id="another type"),
    pytest.param(lambda state: state.update(epoch="3"), "epoch", id="epoch"),
]


@pytest.mark.parametrize(("edit", "name"), ATTACKS)
def test_an_edited_checkpoint_is_refused_with_the_name_and_no_file_changes(
    edit: Callable[[dict[str, Any]], Any], name: str, trained: tuple[Any, Path], tmp_path: Path
) -> None:
    model, source = trained
    shutil.copytree(source / "run", tmp_path / "run")
    victim = tmp_path / "victim.txt"
    victim.write_text(VICTIM)

    def with_victim(state: dict[str, Any]) -> None:
        edit(state)
        _replace_victim(state, str(victim))

    _tamper(tmp_path, with_victim)
    weights = model.get_weights()
    callbacks = _callbacks(tmp_path)
    with pytest.raises(ValueError, match=f"'{name}'"):
        _fit(model, tmp_path, 4, callbacks)
    if getattr(callbacks[0], "csv_file", None) is not None:
        callbacks[0].csv_file.close()
    assert victim.read_text() == VICTIM
    assert callbacks[0].filename == str(tmp_path / "log.csv")
    np.testing.assert_equal(model.get_weights(), weights)


def _replace_victim(value: Any, path: str) -> None:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if item == "/VICTIM":
            value[key] = path
        elif isinstance(item, dict | list):
            _replace_victim(item, path)


def test_an_untouched_checkpoint_resumes_all_of_these_callbacks(trained: tuple[Any, Path], tmp_path: Path) -> None:
    model, source = trained
    shutil.copytree(source, tmp_path / "copy")
    _tamper(tmp_path / "copy", lambda state: None)
    callbacks = _callbacks(tmp_path / "copy")
    history = _fit(model, tmp_path / "copy", 4, callbacks)
    assert history.epoch == [0, 1, 2, 3]
    assert (callbacks[-1].count, callbacks[-1].phase) == (4, "middle")
    assert len((tmp_path / "copy" / "log.csv").read_text().split()) == 5
