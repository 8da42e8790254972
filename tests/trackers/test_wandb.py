"""`Wandb` in wandb's offline mode, read back from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.trackers.conftest import BATCH_STEPS, EPOCHS, FIT, Train, losses_of, run_python
from unisono._src.training.callbacks._wandb_files import read_rows

pytestmark = pytest.mark.trackers


def _rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of the only run, in the order in which `wandb sync` uploads them."""
    ids = {path.stem.removeprefix("run-") for path in folder.glob("wandb/offline-run-*/*.wandb")}
    (run_id,) = ids
    return list(read_rows(folder / "wandb", run_id))


def _check_complete(folder: Path, losses: list[float]) -> None:
    """Every step is there once, with the values of a run that nobody disturbed, and rows are numbered throughout."""
    rows = _rows(folder)
    assert [row["batch/batch_step"] for row in rows if "batch/batch_step" in row] == BATCH_STEPS
    epochs = [row for row in rows if "epoch/epoch" in row]
    assert [row["epoch/epoch"] for row in epochs] == EPOCHS
    assert [row["epoch/val_loss"] for row in epochs] == pytest.approx(losses, abs=1e-12)
    assert {"epoch/loss", "epoch/mae", "epoch/val_mae", "epoch/learning_rate"} < epochs[0].keys()
    assert {"batch/loss", "batch/mae"} < rows[0].keys()
    assert [row["_step"] for row in rows] == list(range(len(BATCH_STEPS) + len(EPOCHS)))


@pytest.mark.parametrize("steps", [(13, 19), (16, 17)])
def test_a_run_that_is_killed_twice_is_one_run_with_every_step_once(
    tmp_path: Path, train: Train, steps: tuple[int, int]
) -> None:
    for step in steps:
        train("wandb", "--kill-after", str(step), succeeds=False)
    _check_complete(tmp_path, losses_of(train("wandb")))
    assert "Would sync 3 run(s)" in run_python("-m", "wandb", "sync", "--dry-run", str(tmp_path / "wandb"))


@pytest.mark.parametrize("rank", [0, 1])
def test_the_chief_of_two_workers_logs_and_a_restarted_job_continues_its_run(
    tmp_path: Path, train: Train, rank: int
) -> None:
    output = train("wandb", "--kill-after", "14", "--kill-rank", str(rank), workers=2)
    _check_complete(tmp_path, losses_of(output))
    assert len(list(tmp_path.glob("wandb/offline-run-*"))) == 2  # one of each attempt


def test_a_job_that_is_restarted_before_its_first_checkpoint_continues_its_run(tmp_path: Path, train: Train) -> None:
    output = train("wandb", "--kill-after", "6", "--save-every", "100", workers=1)
    _check_complete(tmp_path, losses_of(output))


def _init(folder: Path) -> str:
    return f"import wandb\nrun = wandb.init(mode='offline', dir={str(folder)!r}, project='mnist')\n"


def test_files_of_several_blocks_are_read(tmp_path: Path) -> None:
    log = """
for number in range(2_000):
    run.log({"loss": number / 7})
run.log({"text": "x" * 100_000})
run.finish()
"""
    run_python("-c", _init(tmp_path) + log)
    (file,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    assert file.stat().st_size > 200_000
    rows = _rows(tmp_path)
    assert [row["loss"] for row in rows[:-1]] == [number / 7 for number in range(2_000)]
    assert rows[-1]["text"] == "x" * 100_000


def test_a_run_that_is_active_is_used_and_not_ended(tmp_path: Path) -> None:
    log = """
run.log({"mine": 1})
fit(unisono.callbacks.Wandb())
run.log({"mine": 2})
"""
    run_python("-c", FIT + _init(tmp_path) + log)
    assert [row.get("epoch/epoch", row.get("mine")) for row in _rows(tmp_path)] == [1, 0, 1, 2]


def test_the_fit_after_one_that_failed_has_a_run_of_its_own(tmp_path: Path) -> None:
    failed = f"""
arguments = dict(mode="offline", dir={str(tmp_path)!r})
try:
    fit(unisono.callbacks.Wandb(**arguments), keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: 1 / 0))
except ZeroDivisionError:
    fit(unisono.callbacks.Wandb(**arguments))
"""
    run_python("-c", FIT + failed)
    assert len({path.stem for path in tmp_path.glob("wandb/offline-run-*/*.wandb")}) == 2


def test_the_callbacks_of_wandb_itself_need_tensorflow() -> None:
    """When this fails, docs/trackers.md is out of date."""
    output = run_python("-c", "import unisono, wandb.integration.keras", succeeds=False)
    assert "No module named 'tensorflow'" in output
