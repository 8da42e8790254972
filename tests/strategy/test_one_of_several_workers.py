"""MirroredStrategy in a job of several workers trains a model in each of them, and says so."""

from __future__ import annotations

import json
import warnings

import pytest

import unisono


def cluster_of(count: int) -> str:
    names = [f"worker {rank} on hosta" for rank in range(count)]
    return json.dumps(
        {"version": 1, "coordinator": "127.0.0.1:41000", "num_processes": count, "process_id": 0, "names": names}
    )


def test_a_worker_among_others_is_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_CLUSTER", cluster_of(2))
    with pytest.warns(UserWarning, match=r"has started 2: each of them trains .* MultiWorkerMirroredStrategy\(\)"):
        unisono.MirroredStrategy(["cpu:0"])


@pytest.mark.parametrize("value", [None, cluster_of(1)])
def test_a_process_that_is_alone_is_not(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if value:
        monkeypatch.setenv("UNISONO_CLUSTER", value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unisono.MirroredStrategy(["cpu:0"])
