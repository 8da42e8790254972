"""Environment variables are read on each call, and the disk is not."""

import os
from pathlib import Path

import pytest

from unisono._src.core import read_environment


def test_the_disk_is_not_accessed(monkeypatch: pytest.MonkeyPatch) -> None:
    accessed: list[Path] = []

    def stat(path: Path, **_: object) -> os.stat_result:
        accessed.append(path)
        return os.stat(path)

    monkeypatch.setenv("UNISONO_ATTEMPT", "3")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", stat)  # exists, is_dir and is_file ask it
        patch.setattr(Path, "is_dir", lambda path: bool(accessed.append(path)))  # newer Pythons call no stat
        attempt = read_environment().attempt
    assert (attempt, accessed) == (3, [])


def test_a_strategy_that_is_not_known_is_refused_with_all_that_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_STRATEGY", "shard")
    with pytest.raises(ValueError, match=r"UNISONO_STRATEGY='shard'.*'mirrored', 'sharded' or 'sharded-optimizer'"):
        read_environment()


def test_a_number_that_makes_no_sense_is_refused_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_CPU_DEVICES", "many")
    with pytest.raises(ValueError, match=r"UNISONO_CPU_DEVICES='many' is not a whole number.*UNISONO_CPU_DEVICES=4"):
        read_environment()


def test_without_a_launcher_slurms_requeues_are_the_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNISONO_ATTEMPT", raising=False)
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    assert read_environment().attempt == 2
    monkeypatch.setenv("UNISONO_ATTEMPT", "0")
    assert read_environment().attempt == 0
