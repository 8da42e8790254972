"""CheckpointManager: when it saves, what it keeps, what it resumes from, and what it does in the background."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from unisono._src.state.store import load
from unisono.checkpoint import (
    AnyOf,
    Best,
    Checkpoint,
    CheckpointError,
    CheckpointManager,
    CheckpointMismatch,
    EveryEpoch,
    EverySeconds,
    EverySteps,
    latest_checkpoint,
)

pytestmark = pytest.mark.slow


def made(**objects: Any) -> Checkpoint:
    return Checkpoint(x=keras.Variable(np.zeros(3, "float32")), **objects)


def names(manager: CheckpointManager) -> list[str]:
    return [os.path.basename(path) for path in manager.checkpoints]


def spoil(path: str | None) -> None:
    assert path is not None
    arrays = Path(path) / "arrays.safetensors"
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"?")


def test_it_keeps_the_newest(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None
    assert [manager.save() for _ in range(4)] == [str(tmp_path / f"ckpt-{n}") for n in (1, 2, 3, 4)]
    assert sorted(os.listdir(tmp_path)) == names(manager) == ["ckpt-3", "ckpt-4"]
    assert manager.latest_checkpoint == str(tmp_path / "ckpt-4") == latest_checkpoint(tmp_path)
    assert (manager.directory, manager.checkpoint_interval) == (str(tmp_path), None)


def test_none_keeps_all(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, max_to_keep=None)
    [manager.save() for _ in range(7)]
    assert len(names(manager)) == 7


def test_numbers_and_names_are_the_callers_if_given(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, checkpoint_name="model")
    assert manager.save(checkpoint_number=np.int64(500)) == str(tmp_path / "model-500")
    assert int(manager.checkpoint.save_counter) == 1
    assert load(tmp_path / "model-500").step == 500


def test_the_folder_is_read_every_time(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path)
    manager.save()
    manager.save()
    shutil.rmtree(tmp_path / "ckpt-2")
    assert names(manager) == ["ckpt-1"]


def test_foreign_files_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    made().write(tmp_path / "best-1")
    (tmp_path / "ckpt-0").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    manager = CheckpointManager(made(), tmp_path, max_to_keep=1)
    manager.save()
    manager.save()
    assert sorted(os.listdir(tmp_path)) == ["best-1", "ckpt-0", "ckpt-2", "notes.txt"]


def test_a_restart_resumes_from_the_newest(tmp_path: Path) -> None:
    checkpoint = made(epoch=0)
    manager = CheckpointManager(checkpoint, tmp_path)
    assert manager.restore_or_initialize() is None
    for checkpoint.epoch in (1, 2, 3):
        checkpoint.x.assign(np.full(3, checkpoint.epoch))
        manager.save()
    again = made(epoch=0)
    manager = CheckpointManager(again, tmp_path)
    assert manager.restore_or_initialize() == str(tmp_path / "ckpt-3")
    assert (again.epoch, np.asarray(again.x.value).tolist()) == (3, [3, 3, 3])
    assert manager.save() == str(tmp_path / "ckpt-4")


def test_without_a_checkpoint_the_function_initialises(tmp_path: Path) -> None:
    called = []
    manager = CheckpointManager(made(), tmp_path, init_fn=lambda: called.append(1))
    assert manager.restore_or_initialize() is None
    manager.save()
    assert manager.restore_or_initialize() is not None
    assert called == [1]


def test_a_bad_one_is_named_and_an_older_one_taken(tmp_path: Path) -> None:
    checkpoint = made(epoch=0)
    manager = CheckpointManager(checkpoint, tmp_path)
    for checkpoint.epoch in (1, 2, 3):
        manager.save()
    spoil(manager.latest_checkpoint)
    with pytest.warns(UserWarning, match=r"ckpt-3.*checksum.*An older one is restored"):
        assert manager.restore_or_initialize() == str(tmp_path / "ckpt-2")
    assert checkpoint.epoch == 2
    assert manager.save() == str(tmp_path / "ckpt-4")


def test_if_all_are_bad_it_does_not_begin_from_the_start(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path)
    spoil(manager.save())
    spoil(manager.save())
    with pytest.raises(CheckpointError, match=r"(?s)None of the 2 checkpoints.*ckpt-2.*ckpt-1.*move that folder away"):
        manager.restore_or_initialize()


def test_restoring_is_strict(tmp_path: Path) -> None:
    CheckpointManager(made(epoch=1), tmp_path).save()
    with pytest.raises(CheckpointMismatch, match="values without an object: epoch"):
        CheckpointManager(made(), tmp_path).restore_or_initialize()
    with pytest.raises(CheckpointMismatch, match="without a value in it: more"):
        CheckpointManager(made(epoch=1, more=0), tmp_path).restore_or_initialize()


def test_the_one_that_was_restored_from_is_never_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manager = CheckpointManager(made(), tmp_path, max_to_keep=3)
    [manager.save() for _ in range(3)]
    again = CheckpointManager(made(), tmp_path, max_to_keep=1)
    monkeypatch.chdir(tmp_path)  # the same folder by another path
    again.checkpoint.restore("ckpt-2").assert_consumed()
    [again.save() for _ in range(3)]
    assert names(again) == ["ckpt-2", "ckpt-6"]


def test_a_new_run_in_an_old_folder_does_not_write_over_it_or_lose_to_it(tmp_path: Path) -> None:
    old = CheckpointManager(made(), tmp_path, max_to_keep=3)
    [old.save() for _ in range(3)]
    new = CheckpointManager(made(), tmp_path, max_to_keep=3)
    assert new.save() == str(tmp_path / "ckpt-4") == new.latest_checkpoint


def test_a_number_below_all_existing_ones_is_not_deleted_at_once(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, max_to_keep=1)
    manager.save(checkpoint_number=10)
    assert manager.save(checkpoint_number=5) == str(tmp_path / "ckpt-5")
    assert names(manager) == ["ckpt-5", "ckpt-10"]


def test_one_for_every_so_many_hours_is_kept(tmp_path: Path) -> None:
    hours = 0.5 / 3600
    manager = CheckpointManager(made(), tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=hours)
    manager.save()
    manager.save()  # 1 was written at once, so it goes
    assert names(manager) == ["ckpt-2"]
    time.sleep(0.6)
    manager.save()
    manager.save()  # 3 comes more than half a second after the beginning
    assert names(manager) == ["ckpt-3", "ckpt-4"]
    manager = CheckpointManager(made(), tmp_path, max_to_keep=1, keep_checkpoint_every_n_hours=hours)
    manager.restore_or_initialize()
    manager.save()
    manager.save()
    assert names(manager) == ["ckpt-3", "ckpt-4", "ckpt-6"]  # 4 was restored from


def test_an_interval_counts_steps(tmp_path: Path) -> None:
    step = keras.Variable(0, dtype="int32", trainable=False)
    manager = CheckpointManager(made(step=step), tmp_path, step_counter=step, checkpoint_interval=5)
    assert manager.checkpoint_interval == 5
    saved = []
    for number in range(1, 13):
        step.assign(number)
        if manager.save() is not None:
            saved.append(number)
    assert saved == [1, 6, 11]
    assert manager.save(check_interval=False) is not None


def test_an_interval_continues_after_a_restart(tmp_path: Path) -> None:
    step = keras.Variable(7, dtype="int32", trainable=False)
    CheckpointManager(made(step=step), tmp_path).save()
    new = keras.Variable(0, dtype="int32", trainable=False)
    manager = CheckpointManager(made(step=new), tmp_path, step_counter=new, checkpoint_interval=5)
    manager.restore_or_initialize()
    new.assign(11)
    assert manager.save() is None
    new.assign(12)
    assert manager.save() is not None


def test_a_policy_counts_calls_or_steps(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path / "calls", policy=EverySteps(4))
    assert [n for n in range(1, 13) if manager.save()] == [4, 8, 12]
    step = keras.Variable(0, dtype="int32", trainable=False)
    manager = CheckpointManager(made(step=step), tmp_path / "steps", step_counter=step, policy=EverySteps(4))
    saved = []
    for number in (3, 5, 7, 9, 12):
        step.assign(number)
        if manager.save():
            saved.append(number)
    assert saved == [5, 9, 12]


@pytest.mark.parametrize("by_manager", [True, False])
def test_a_policy_continues_after_a_restart(tmp_path: Path, by_manager: bool) -> None:
    step = keras.Variable(10, dtype="int32", trainable=False)
    path = CheckpointManager(made(step=step), tmp_path).save()
    new = keras.Variable(0, dtype="int32", trainable=False)
    manager = CheckpointManager(made(step=new), tmp_path, step_counter=new, policy=EverySteps(10))
    if by_manager:
        manager.restore_or_initialize()
    else:
        manager.checkpoint.restore(path).assert_consumed()
    saved = []
    for number in range(11, 31):
        new.assign(number)
        if manager.save():
            saved.append(number)
    assert saved == [20, 30]


def test_the_first_step_after_a_restore_counts(tmp_path: Path) -> None:
    step = keras.Variable(9, dtype="int32", trainable=False)
    path = CheckpointManager(made(step=step), tmp_path).save()
    manager = CheckpointManager(made(step=step), tmp_path, step_counter=step, policy=EverySteps(10))
    manager.checkpoint.restore(path).assert_consumed()
    step.assign(10)
    assert manager.save() is not None


def test_a_policy_by_the_clock(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, policy=EverySeconds(0.2))
    assert manager.save() is None
    time.sleep(0.25)
    assert manager.save() is not None
    assert manager.save() is None


def test_the_best_is_kept_also_after_a_restart(tmp_path: Path) -> None:
    def new() -> CheckpointManager:
        return CheckpointManager(made(), tmp_path, max_to_keep=1, policy=AnyOf(EveryEpoch(), Best("loss")))

    manager = new()
    assert manager.save() is None  # within an epoch
    for epochs, loss in enumerate([0.5, 0.2, 0.4], 1):
        manager.save(epochs=epochs, logs={"loss": np.float32(loss)})
    assert names(manager) == ["ckpt-2", "ckpt-3"]
    assert load(tmp_path / "ckpt-2").info["kept"] == "best loss"
    assert "kept" not in load(tmp_path / "ckpt-3").info
    manager = new()
    manager.restore_or_initialize()
    manager.save(epochs=4, logs={"loss": 0.3})
    manager = new()  # of one that does not restore
    manager.save(epochs=5, logs={"loss": 0.3})
    assert "ckpt-2" in names(manager)
    manager.save(epochs=6, logs={"loss": 0.1})
    manager.save(epochs=7, logs={"loss": 0.3})
    assert names(manager)[-2:] == ["ckpt-6", "ckpt-7"]
    assert "ckpt-2" not in names(manager)


def test_a_checkpoint_that_is_written_again_is_no_longer_the_best_one(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, max_to_keep=1, policy=AnyOf(EveryEpoch(), Best("loss")))
    manager.save(1, epochs=1, logs={"loss": 0.1})
    manager.save(1, epochs=2, logs={"loss": 0.2})
    manager.save(2, epochs=3, logs={"loss": 0.3})
    assert names(manager) == ["ckpt-2"]


def test_a_best_one_that_could_not_be_written_does_not_replace_the_one_that_was(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, max_to_keep=1, policy=AnyOf(EveryEpoch(), Best("loss")))
    manager.save(epochs=1, logs={"loss": 0.5})
    (tmp_path / "ckpt-2").write_text("in the way")
    with pytest.raises(CheckpointError, match="ckpt-2"):
        manager.save(epochs=2, logs={"loss": 0.4})
    manager.save(epochs=3, logs={"loss": 0.6})
    assert names(manager) == ["ckpt-1", "ckpt-3"]


def test_a_checkpoint_that_failed_is_due_again(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, policy=EverySteps(3))
    (tmp_path / "ckpt-1").write_text("in the way")
    assert [manager.save(), manager.save()] == [None, None]
    with pytest.raises(CheckpointError, match="ckpt-1"):
        manager.save()
    assert manager.save() == str(tmp_path / "ckpt-2")


def test_in_the_background_the_copy_is_taken_at_once(tmp_path: Path) -> None:
    checkpoint = made()
    with CheckpointManager(checkpoint, tmp_path, background=True) as manager:
        for value in range(5):
            checkpoint.x.assign(np.full(3, value))
            manager.save()
            checkpoint.x.assign(np.full(3, -1))
        manager.wait()
        assert len(names(manager)) == 5
    for value in range(5):
        assert load(tmp_path / f"ckpt-{value + 1}").arrays["x"].tolist() == [value] * 3


@pytest.mark.parametrize("act", ["save", "wait", "close", "restore_or_initialize"])
def test_an_error_in_the_background_is_raised_once_by_the_next_call(tmp_path: Path, act: str) -> None:
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "ckpt" / "ckpt-1").write_text("in the way")
    manager = CheckpointManager(made(), tmp_path / "ckpt", background=True)
    manager.save()
    _settle(manager)
    with pytest.raises(CheckpointError, match="ckpt-1"):
        getattr(manager, act)()
    assert manager.save() is not None
    manager.close()
    manager.close()


def test_an_error_in_the_background_is_raised_though_nothing_is_due(tmp_path: Path) -> None:
    (tmp_path / "ckpt").mkdir()
    manager = CheckpointManager(made(), tmp_path / "ckpt", background=True, policy=EverySteps(2))
    manager.save()
    (tmp_path / "ckpt" / "ckpt-1").write_text("in the way")
    manager.save()
    _settle(manager)
    with pytest.raises(CheckpointError, match="ckpt-1"):
        manager.save()


def test_an_exception_in_the_block_is_not_hidden_by_one_of_the_writer(tmp_path: Path) -> None:
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "ckpt" / "ckpt-1").write_text("in the way")
    with pytest.raises(ZeroDivisionError) as caught:  # noqa: SIM117, PT012
        with CheckpointManager(made(), tmp_path / "ckpt", background=True) as manager:
            manager.save()
            raise ZeroDivisionError
    assert "could not be written" in caught.value.__notes__[0]


def test_a_checkpoint_that_fails_deletes_nothing(tmp_path: Path) -> None:
    manager = CheckpointManager(made(), tmp_path, max_to_keep=1)
    manager.save()
    (tmp_path / "ckpt-2").write_text("in the way")
    with pytest.raises(CheckpointError, match="ckpt-2"):
        manager.save()
    assert names(manager) == ["ckpt-1"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_to_keep": 0}, "max_to_keep"),
        ({"keep_checkpoint_every_n_hours": 0}, "above 0"),
        ({"checkpoint_interval": 5}, "needs a step_counter"),
        ({"policy": 100}, r"EverySteps\(100\)"),
        ({"checkpoint": object()}, "expected a Checkpoint"),
    ],
)
def test_arguments_are_checked(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        CheckpointManager(**{"checkpoint": made(), "directory": tmp_path, **arguments})


def _settle(manager: CheckpointManager) -> None:
    """Waits for the writer without asking how it went."""
    deadline = time.monotonic() + 30
    while manager._writer.busy:
        assert time.monotonic() < deadline
        time.sleep(0.01)
