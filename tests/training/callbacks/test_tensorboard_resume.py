"""A resumed training writes what it would have written: no step twice, none missing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.training.callbacks import _driver as driver
from tests.training.callbacks._events import events, steps_of
from unisono.callbacks import TensorBoard

pytestmark = pytest.mark.slow

Make = Callable[..., Any]

LOGS = {"loss": 0.5, "val_loss": 0.6}


def _callback(folder: Path) -> TensorBoard:
    return TensorBoard(folder, histogram_freq=1, update_freq=2)


def _resumed(folder: Path, model: Any, state: Any, *, epoch: int, step: int) -> TensorBoard:
    """As `fit` does it: once more within an epoch, whose beginning may change what was restored."""
    callback = _callback(folder)
    callback.set_model(model)
    callback.prepare_for_resume(epoch, step)
    callback.on_train_begin()
    callback.set_state(json.loads(json.dumps(state)))
    callback.on_epoch_begin(epoch)
    if step % driver.STEPS:
        callback.set_state(json.loads(json.dumps(state)))
    return callback


@pytest.fixture
def undisturbed(make_model: Make, tmp_path: Path) -> dict[str, dict[str, list[int]]]:
    callback = _callback(tmp_path / "undisturbed")
    driver.begin(callback, make_model())
    for number in range(3):
        driver.epoch(callback, number, **LOGS)
    callback.on_train_end()
    return {run: steps_of(tmp_path / "undisturbed" / run) for run in ("train", "validation")}


@pytest.mark.parametrize("saved_at", [3, 4, 8])
@pytest.mark.parametrize("killed_after", ["the save", "two calls more", "the epoch"])
def test_every_step_is_there_once(
    make_model: Make, tmp_path: Path, undisturbed: Any, saved_at: int, killed_after: str
) -> None:
    model = make_model()
    killed = _callback(tmp_path)
    driver.begin(killed, model)
    driver.epoch(killed, 0, **LOGS)
    killed.on_epoch_begin(1)
    driver.run_calls(killed, (1,) * saved_at, 0, LOGS)
    state = killed.get_state()
    left = driver.STEPS - saved_at
    if killed_after == "two calls more":
        driver.run_calls(killed, (1, 1)[:left], saved_at, LOGS)
    elif killed_after == "the epoch":
        driver.run_calls(killed, (1,) * left, saved_at, LOGS)
        driver.end_epoch(killed, 1, **LOGS)

    callback = _resumed(tmp_path, model, state, epoch=1, step=driver.STEPS + saved_at)
    driver.run_calls(callback, (1,) * left, saved_at, LOGS)
    driver.end_epoch(callback, 1, **LOGS)
    driver.epoch(callback, 2, **LOGS)
    callback.on_train_end()
    assert {run: steps_of(tmp_path / run) for run in ("train", "validation")} == undisturbed


def test_a_training_that_was_killed_twice_is_one_training(make_model: Make, tmp_path: Path, undisturbed: Any) -> None:
    model = make_model()
    callback = _callback(tmp_path)
    driver.begin(callback, model)
    driver.epoch(callback, 0, **LOGS)
    state = callback.get_state()
    driver.epoch(callback, 1, **LOGS)
    for _ in range(2):  # the second one dies before it saves, too
        callback = _resumed(tmp_path, model, state, epoch=1, step=driver.STEPS)
        driver.run_calls(callback, (4,), 0, LOGS)
    callback = _resumed(tmp_path, model, state, epoch=1, step=driver.STEPS)
    driver.run_calls(callback, (2, 2, 2, 2), 0, LOGS)
    driver.end_epoch(callback, 1, **LOGS)
    driver.epoch(callback, 2, **LOGS)
    callback.on_train_end()
    assert {run: steps_of(tmp_path / run) for run in ("train", "validation")} == undisturbed


def test_files_of_another_training_in_the_folder_stay(make_model: Make, tmp_path: Path) -> None:
    model = make_model()
    other = _callback(tmp_path)
    driver.begin(other, model)
    driver.epoch(other, 0, **LOGS)
    other.on_train_end()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*tfevents*")}
    mine = _callback(tmp_path)
    driver.begin(mine, model)
    state = mine.get_state()
    driver.epoch(mine, 0, **LOGS)
    resumed = _resumed(tmp_path, model, state, epoch=0, step=0)
    resumed.on_train_end()
    assert {path: path.read_bytes() for path in tmp_path.rglob("*tfevents*")} == before


def test_the_new_file_comes_last_and_says_what_to_forget(make_model: Make, tmp_path: Path) -> None:
    model = make_model()
    killed = _callback(tmp_path)
    driver.begin(killed, model)
    driver.epoch(killed, 0, **LOGS)
    state = killed.get_state()
    resumed = _resumed(tmp_path, model, state, epoch=1, step=driver.STEPS)
    driver.epoch(resumed, 1, **LOGS)
    resumed.on_train_end()
    first, second = sorted((tmp_path / "train").glob("*tfevents*"))
    assert first.name in state["runs"]["train"]["files"]
    starts = [event.step for event in events(tmp_path / "train") if event.HasField("session_log")]
    assert starts == [driver.STEPS + 1] * 2
    assert second.stat().st_size > 0


def test_the_new_file_comes_last_on_a_machine_whose_clock_is_behind(make_model: Make, tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / "events.out.tfevents.9999999990.elsewhere.1.0").touch()
    callback = _callback(tmp_path)
    driver.begin(callback, make_model())
    driver.epoch(callback, 0, **LOGS)
    callback.on_train_end()
    *_, last = sorted((tmp_path / "train").iterdir())
    assert last.name.startswith("events.out.tfevents.9999999991.")


def test_a_training_that_died_before_its_first_checkpoint_hides_what_it_left(make_model: Make, tmp_path: Path) -> None:
    callback = _callback(tmp_path)
    callback.set_model(make_model())
    callback.prepare_for_resume(0, 0)
    callback.on_train_begin()
    driver.epoch(callback, 0, **LOGS)
    callback.on_train_end()
    assert [event.step for event in events(tmp_path / "train") if event.HasField("session_log")] == [0, 0]


def test_logs_that_a_user_deleted_do_not_end_a_training(make_model: Make, tmp_path: Path) -> None:
    model = make_model()
    callback = _callback(tmp_path)
    driver.begin(callback, model)
    driver.epoch(callback, 0, **LOGS)
    for path in tmp_path.rglob("*tfevents*"):
        path.unlink()
    state = callback.get_state()
    driver.epoch(callback, 1, **LOGS)
    callback.on_train_end()
    resumed = _resumed(tmp_path, model, state, epoch=1, step=driver.STEPS)
    driver.epoch(resumed, 1, **LOGS)
    resumed.on_train_end()
    assert steps_of(tmp_path / "train")["epoch_loss"] == [1]


def test_what_was_profiled_before_the_kill_is_not_profiled_again(make_model: Make, tmp_path: Path) -> None:
    model = make_model()
    killed = TensorBoard(tmp_path / "killed", profile_batch=2)
    driver.begin(killed, model)
    driver.epoch(killed, 0, **LOGS)
    callback = TensorBoard(tmp_path / "resumed", profile_batch=2)
    driver.begin(callback, model)
    callback.set_state(killed.get_state())
    driver.epoch(callback, 1, **LOGS)
    callback.on_train_end()
    killed.on_train_end()
    assert list((tmp_path / "killed").rglob("*.xplane.pb"))
    assert not list((tmp_path / "resumed").rglob("*.xplane.pb"))
