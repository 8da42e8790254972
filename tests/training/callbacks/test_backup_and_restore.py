"""BackupAndRestore says where, when and how many; `fit` does it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import pytest

from unisono.callbacks import BackupAndRestore
from unisono.checkpoint import EveryEpoch, EverySeconds, EverySteps

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("save_freq", "policy"),
    [("epoch", EveryEpoch()), (500, EverySteps(500)), (EverySeconds(30), EverySeconds(30))],
)
def test_the_frequency_is_a_policy(save_freq: Any, policy: Any) -> None:
    assert BackupAndRestore("backup", save_freq).policy == policy


def test_what_fit_reads() -> None:
    backup = BackupAndRestore(Path("runs") / "mnist")
    assert backup.directory == Path("runs/mnist")
    assert backup.delete_checkpoint
    assert backup.keep == 1
    assert BackupAndRestore("backup", double_checkpoint=True, delete_checkpoint=False).keep == 2


@pytest.mark.parametrize("save_freq", [0, -1, False, True, "batch", 2.5, None])
def test_a_frequency_without_meaning_is_refused(save_freq: Any) -> None:
    with pytest.raises(ValueError, match=r"save_freq=.*save_freq=500.*EverySeconds"):
        BackupAndRestore("backup", save_freq)


def test_an_empty_folder_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r'BackupAndRestore\("backup"\)'):
        BackupAndRestore("")


def test_it_overrides_no_hooks() -> None:
    """So that it costs nothing between steps."""
    hooks = [name for name in dir(keras.callbacks.Callback) if name.startswith("on_")]
    assert [name for name in hooks if name in vars(BackupAndRestore)] == []


def test_a_model_whose_fit_would_not_read_it_is_refused(make_model: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"'net' was created outside every strategy's scope"):
        BackupAndRestore("backup").set_model(make_model(scoped=False))
    BackupAndRestore("backup").set_model(make_model())
