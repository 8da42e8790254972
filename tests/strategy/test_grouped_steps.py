"""Steps of data in memory are sent in groups: the same values, layouts and positions as one by one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import unisono
from unisono._src.replicas.values import PerReplica
from unisono._src.strategy._batch_distribution import SplitRows
from unisono._src.strategy._grouped_steps import SendInGroups
from unisono.data import Dataset

X = np.arange(230 * 3, dtype="float32").reshape(230, 3)
Y = np.arange(230)


@pytest.fixture(autouse=True)
def group_on_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on GPUs."""
    monkeypatch.setattr(SplitRows, "can_send_groups", True)


def in_memory() -> Dataset:
    return Dataset.from_tensor_slices({"x": X, "y": Y}).shuffle(230, seed=3).batch(4)


def unequal() -> Dataset:
    """Batches of 7 rows, which two replicas do not share evenly."""
    return Dataset.from_tensor_slices((X, Y)).batch(7)


def with_strings() -> Dataset:
    return Dataset.from_tensor_slices((X, np.array([f"row {number}" for number in range(230)]))).batch(4)


def large() -> Dataset:
    """A batch takes more than a group may."""
    return Dataset.from_tensor_slices(np.zeros((6, 3_000_000), "float32")).batch(2)


def one() -> unisono.MirroredStrategy:
    return unisono.MirroredStrategy(["cpu:0"])


def two() -> unisono.MirroredStrategy:
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


def _values(strategy: Any, step: Any) -> list[list[Any]]:
    return [
        [np.asarray(value).tolist() for value in strategy.experimental_local_results(leaf)]
        for leaf in jax.tree.leaves(step, is_leaf=lambda leaf: isinstance(leaf, PerReplica))
    ]


@pytest.mark.slow
@pytest.mark.parametrize("make_strategy", [one, two])
@pytest.mark.parametrize("make_dataset", [in_memory, unequal, with_strings])
def test_steps_are_those_that_are_sent_one_by_one(
    make_strategy: Callable[[], Any], make_dataset: Callable[[], Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy = make_strategy()
    grouped = [_values(strategy, step) for step in strategy.experimental_distribute_dataset(make_dataset())]
    monkeypatch.setattr(SplitRows, "can_send_groups", False)
    single = [_values(strategy, step) for step in strategy.experimental_distribute_dataset(make_dataset())]
    assert grouped == single


@pytest.mark.parametrize("make_strategy", [one, two])
def test_all_steps_have_one_layout(make_strategy: Callable[[], Any]) -> None:
    """Else the function that takes them would be compiled again."""
    strategy = make_strategy()
    step_shapes = set()

    @unisono.function
    def step(batch: Any) -> Any:
        step_shapes.add(len(step_shapes))  # runs when the function is traced
        return strategy.run(lambda batch: batch["x"].sum(), (batch,))

    for batch in strategy.experimental_distribute_dataset(in_memory().take(40)):
        step(batch)
    assert len(step_shapes) == 1


@pytest.mark.parametrize("steps_before", [0, 1, 5, 16, 17, 40, 58])
def test_a_pass_resumes_after_any_step(steps_before: int) -> None:
    strategy = two()
    iterator = iter(strategy.experimental_distribute_dataset(in_memory()))
    for _ in range(steps_before):
        next(iterator)
    state = json.loads(json.dumps(iterator.get_state()))
    rest = [_values(strategy, step) for step in iterator]
    resumed = iter(strategy.experimental_distribute_dataset(in_memory()))
    resumed.set_state(state)
    assert [_values(strategy, step) for step in resumed] == rest
    assert len(rest) == 58 - steps_before


def test_large_batches_are_sent_one_by_one() -> None:
    assert [np.shape(step) for step in one().experimental_distribute_dataset(large())] == [(2, 3_000_000)] * 3


def test_data_that_is_read_while_it_comes_is_not_grouped() -> None:
    """A group is given when all of it has been read: an endless game would be one group behind."""
    made: list[int] = []

    def play() -> Any:
        for number in range(100):
            made.append(number)
            yield np.float32(number)

    dataset = Dataset.from_generator(play, output_signature=unisono.data.TensorSpec((), np.float32)).batch(2)
    iterator = iter(one().experimental_distribute_dataset(dataset))
    next(iterator)
    iterator.close()
    assert len(made) <= 10


def test_the_thread_ends_with_the_pass() -> None:
    iterator = iter(one().experimental_distribute_dataset(in_memory()))
    next(iterator)
    iterator.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("unisono-data")]


def test_data_in_memory_is_grouped() -> None:
    plan = one().experimental_distribute_dataset(in_memory())._make_plan(in_memory())
    assert isinstance(plan.operations[-1], SendInGroups)
