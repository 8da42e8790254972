"""Trainings whose checkpoints are in a store that is reached by URL: they resume to the bit, as those on a disk do."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import keras
import numpy as np
import pytest

import unisono
import unisono.tf as tf
from tests.object_store import FOLDER_VARIABLE
from tests.training.test_resume import Interrupt, InterruptedHereError, X, Y, assert_same, new_model, seed
from tests.workers._job import finish, job
from unisono._src.devices import user_cache_folder
from unisono._src.state.store import CheckpointSeries, load
from unisono._src.training import _resume as resume_module
from unisono._src.training._fit_on_workers import _Backup
from unisono.callbacks import ModelCheckpoint
from unisono.checkpoint import Checkpoint, CheckpointManager, EverySteps, latest_checkpoint

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).parent / "scripts" / "remote_fit.py"
ROOT = "objects://bucket/runs"


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "objects"
    folder.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


@pytest.fixture(autouse=True)
def new_process() -> Iterator[Callable[[], None]]:
    """Forgets how many trainings this process has made, as another one would not know."""
    resume_module._finished.clear()
    yield resume_module._finished.clear
    resume_module._finished.clear()
    fsspec.filesystem("memory").store.clear()


@pytest.mark.parametrize("url", [f"{ROOT}/mnist", "memory://bucket/mnist"])
def test_a_training_resumes_from_a_url(
    url: str, tmp_path: Path, new_process: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments: dict[str, Any] = {"x": X, "y": Y, "batch_size": 8, "epochs": 3, "verbose": 0}
    resume = unisono.Resume(url, policy=EverySteps(2))
    whole, broken, again = new_model(), new_model(), new_model()
    seed()
    whole.fit(**arguments)
    seed()
    with pytest.raises(InterruptedHereError):
        broken.fit(**arguments, resume=resume, callbacks=[Interrupt(9)])
    new_process()
    again.fit(**arguments, resume=resume)
    assert_same(whole, again)
    series = CheckpointSeries(f"{url}/checkpoints/fit-1", "save")
    assert len(series.steps()) == 3  # the newest two, and the one that was restored
    # Finished: the next start restores the end and trains nothing.
    new_process()
    finished = new_model()
    finished.fit(**arguments, resume=resume)
    assert_same(whole, finished)
    assert os.listdir(tmp_path) == ["objects"]  # and nothing was taken for a folder of this machine


def test_backup_and_restore_takes_a_url_and_deletes_its_checkpoints(
    store: Path, new_process: Callable[[], None]
) -> None:
    model = new_model()
    backup = unisono.callbacks.BackupAndRestore(f"{ROOT}/backup", save_freq=2)  # Keras's own refuses URLs
    with pytest.raises(InterruptedHereError):
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=[backup, Interrupt(5)])
    assert CheckpointSeries(f"{ROOT}/backup/checkpoints/fit-1", "save").steps()
    new_process()
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=[backup])
    assert os.listdir(store) == []


@pytest.mark.parametrize("root", [ROOT, "memory://bucket/runs"])
def test_checkpoints_of_a_training_with_parameter_servers_are_deleted_at_its_end(root: str) -> None:
    model = new_model()
    model.build(X.shape)
    backup = _Backup(model, unisono.Resume(f"{root}/servers", delete_at_end=True))
    backup.save(1)
    series = CheckpointSeries(f"{root}/servers/checkpoints/fit-1", "ckpt")
    assert series.steps() == [1]
    backup.finish()
    assert series.steps() == []


def test_compiled_programs_of_a_run_are_not_in_the_cache_whose_oldest_are_removed() -> None:
    folder = resume_module.prepare_programs_folder(unisono.Resume(f"{ROOT}/mnist"))
    assert not folder.is_relative_to(user_cache_folder())


@pytest.mark.parametrize("root", [ROOT, "memory://bucket/runs"])
@pytest.mark.parametrize("background", [False, True])
def test_a_manager_saves_prunes_and_restores_at_a_url(root: str, background: bool) -> None:
    variable = keras.Variable(np.zeros(3))
    checkpoint = Checkpoint(variable=variable, epoch=0)
    with CheckpointManager(checkpoint, f"{root}/loop", max_to_keep=2, background=background) as manager:
        assert manager.restore_or_initialize() is None
        for checkpoint.epoch in range(1, 5):
            variable.assign(np.full(3, checkpoint.epoch))
            path = manager.save()
    assert path == f"{root}/loop/ckpt-4" == manager.latest_checkpoint == latest_checkpoint(f"{root}/loop")
    assert manager.checkpoints == [f"{root}/loop/ckpt-3", f"{root}/loop/ckpt-4"]
    variable.assign(np.zeros(3))
    again = CheckpointManager(Checkpoint(variable=variable, epoch=0), f"{root}/loop", max_to_keep=2)
    assert again.restore_or_initialize() == path
    assert variable.numpy().tolist() == [4, 4, 4]
    # The one that was restored is kept, however old it becomes.
    for _ in range(3):
        again.save()
    assert again.checkpoints == [f"{root}/loop/ckpt-{number}" for number in (4, 6, 7)]


def test_a_checkpoint_is_written_and_read_at_a_url() -> None:
    variable = keras.Variable(1.0)
    checkpoint = Checkpoint(variable=variable)
    assert checkpoint.save(f"{ROOT}/ckpt") == f"{ROOT}/ckpt-1"
    assert checkpoint.write(f"{ROOT}/best") == f"{ROOT}/best"
    for path in (f"{ROOT}/ckpt-1", f"{ROOT}/best"):
        variable.assign(0.0)
        Checkpoint(variable=variable).read(path).assert_consumed()
        assert float(variable.numpy()) == 1.0
    reader = tf.train.load_checkpoint(f"{ROOT}/best")
    assert reader.get_tensor("variable") == 1.0
    state = tf.train.get_checkpoint_state(ROOT)
    assert state is not None
    assert sorted(state.all_model_checkpoint_paths) == [f"{ROOT}/best", f"{ROOT}/ckpt-1"]


def test_weights_are_saved_to_a_url_and_loaded_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model, other = new_model(), new_model()
    best = ModelCheckpoint(f"{ROOT}/best", save_weights_only=True)
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=[best])
    other.build((None, X.shape[1]))
    other.load_weights(f"{ROOT}/best")
    for one, two in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    model.save_weights(f"{ROOT}/weights")
    assert load(f"{ROOT}/weights").arrays
    with pytest.raises(
        unisono.checkpoint.BadCheckpoint, match=r"In 'objects://bucket/runs' there are: .*best.*weights"
    ):
        other.load_weights(f"{ROOT}/nothing")
    assert os.listdir(tmp_path) == ["objects"]


@pytest.mark.full
@pytest.mark.timeout(400)
@pytest.mark.parametrize("workers", [1, 2])
def test_a_job_that_is_killed_resumes_from_a_url_to_the_bit(workers: int, tmp_path: Path) -> None:
    """With two workers each writes its part of the state to the store."""
    url, environment = f"{ROOT}/job", {"PYTHONPATH": str(Path(__file__).parents[2])}
    results = {}
    for name, at, kill_at in (("whole", "none", 0), ("killed", url, 9), ("resumed", url, 0)):
        results[name] = tmp_path / f"{name}.npz"
        arguments = [at, str(results[name]), str(kill_at)]
        with job(
            tmp_path,
            str(SCRIPT),
            arguments,
            workers=workers,
            devices=2,
            environment=environment,
            variables=(lambda rank, port: {}) if workers == 1 else None,
        ) as running:
            if kill_at:
                assert running[0].process.wait(150) == -signal.SIGKILL
                series = CheckpointSeries(f"{url}/checkpoints/fit-1", "save")
                good, bad = series.load_newest_good()
                assert bad == []
                assert good is not None
                assert 0 < good.step <= 9
            else:
                codes = finish(running, 150)
                outputs = "\n".join(worker.output() for worker in running)
                assert codes == [0] * workers, outputs
                if name == "resumed":
                    assert "STEP 18" not in outputs  # it did not begin from the start
    with np.load(results["whole"]) as whole, np.load(results["resumed"]) as resumed:
        assert whole.files == resumed.files
        for each in whole.files:
            assert whole[each].tobytes() == resumed[each].tobytes(), each
