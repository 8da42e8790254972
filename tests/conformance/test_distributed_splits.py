"""Batches split over replicas as tf.distribute splits them (tf_distribute_splits.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import unisono
import unisono.data

from ._compare import differences
from ._space import Space
from ._splits import CASES, GRID, observe_case, rows_of_steps
from .differences import DIFFERENT_SPLITS

pytestmark = pytest.mark.slow

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "tf_distribute_splits.json").read_text())


@pytest.fixture
def space(tmp_path: Path) -> Space:
    return Space(unisono.data, unisono.data.TensorSpec, lambda x: x.shape[0], tmp_path)


def mirrored(num_replicas: int) -> Any:
    return unisono.MirroredStrategy([f"cpu:{index}" for index in range(num_replicas)])


def find_differences(name: str, space: Space) -> dict[str, str]:
    ours = observe_case(CASES[name], space, mirrored(CASES[name].num_replicas))
    return differences(RECORDED["cases"][name], json.loads(json.dumps(ours)))


def ceiling_split(num_rows: int, num_replicas: int) -> list[int]:
    """The rows of each replica: as many as fit at ceil(n / replicas) each, so that the last ones may get none."""
    most = -(-num_rows // num_replicas)
    return [max(0, min(most, num_rows - index * most)) for index in range(num_replicas)]


def test_every_cell_has_been_recorded() -> None:
    assert sorted(GRID) == sorted(RECORDED["grid"])
    assert sorted(CASES) == sorted(RECORDED["cases"])


def test_every_difference_names_a_case() -> None:
    assert not DIFFERENT_SPLITS.keys() - CASES.keys()


@pytest.mark.parametrize("name", GRID)
def test_tensorflow_splits_each_batch_by_the_rows_it_really_has(name: str) -> None:
    """Says the rule, without running anything of ours."""
    for step in RECORDED["grid"][name]:
        sizes = [len(rows) for rows in step]
        assert sizes == ceiling_split(sum(sizes), GRID[name].num_replicas)


@pytest.mark.parametrize("name", GRID)
def test_every_replica_gets_the_rows_that_tensorflow_gives_it(name: str, space: Space) -> None:
    cell = GRID[name]
    distributed = mirrored(cell.num_replicas).experimental_distribute_dataset(cell.dataset(space))
    assert rows_of_steps(distributed) == RECORDED["grid"][name]


@pytest.mark.parametrize("name", [name for name in CASES if name not in DIFFERENT_SPLITS])
def test_a_distributed_dataset_is_tensorflows(name: str, space: Space) -> None:
    found = find_differences(name, space)
    assert not found, "\n".join(f"{aspect}: {where}" for aspect, where in found.items())


@pytest.mark.parametrize("name", DIFFERENT_SPLITS)
def test_a_difference_on_purpose_is_there_and_is_the_only_one(name: str, space: Space) -> None:
    aspects, reason = DIFFERENT_SPLITS[name]
    found = find_differences(name, space)
    assert sorted(found) == sorted(aspects), f"{reason}: {found}"
