"""Iterators over datasets: their states, their ends, what they give back."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import numpy as np
import pytest

from unisono.data import Dataset, DatasetIterator, TensorSpec


def kept(iterator: DatasetIterator) -> Any:
    """The state as another process would read it."""
    return json.loads(json.dumps(iterator.get_state()))


def restored(dataset: Dataset, state: Any) -> list[Any]:
    iterator = iter(dataset)
    iterator.set_state(state)
    return [element.tolist() for element in iterator]


def rest(iterator: DatasetIterator) -> list[Any]:
    return [element.tolist() for element in iterator]


def stream(count: int) -> Dataset:
    return Dataset.from_generator(lambda: iter(range(count)), output_signature=TensorSpec((), "int64"))


def test_a_pass_resumes_in_another_iterator() -> None:
    def make() -> Dataset:
        return Dataset.range(20).shuffle(20, seed=1).map(lambda x: x * 2).batch(3)

    iterator = iter(make())
    for _ in range(3):
        next(iterator)
    state = kept(iterator)
    assert restored(make(), state) == rest(iterator)


def test_a_state_knows_which_pass_it_belongs_to() -> None:
    dataset = Dataset.range(20).shuffle(20, seed=1)
    list(dataset)
    second = iter(dataset)
    next(second)
    assert restored(Dataset.range(20).shuffle(20, seed=1), kept(second)) == rest(second)


@pytest.mark.parametrize("make", [lambda: Dataset.range(20), lambda: stream(20)], ids=["rows", "stream"])
def test_seeds_that_were_drawn_are_carried_over(make: Any) -> None:
    def dataset() -> Dataset:
        shuffled: Dataset = make().shuffle(10)
        return shuffled.map(lambda x: x + np.random.default_rng(int(x)).integers(2)).batch(2)

    iterator = iter(dataset())
    next(iterator)
    state = kept(iterator)
    assert state["seeds"] != list(dataset()._plan.seeds)
    assert restored(dataset(), state) == rest(iterator)


@pytest.mark.parametrize("make", [lambda: Dataset.range(20), lambda: stream(20)], ids=["rows", "stream"])
def test_passes_after_a_restored_one_are_those_that_followed_it(make: Any) -> None:
    first: Dataset = make().shuffle(10).batch(3)
    passes = [rest(iter(first))]
    iterator = iter(first)
    next(iterator)
    state = kept(iterator)
    passes = [rest(iterator), rest(iter(first)), rest(iter(first))]
    again: Dataset = make().shuffle(10).batch(3)
    assert [restored(again, state), rest(iter(again)), rest(iter(again))] == passes


def test_a_state_of_another_plan_is_refused_with_both_plans() -> None:
    state = kept(iter(Dataset.range(10).batch(2)))
    with pytest.raises(
        ValueError,
        match=r"(?s)the state's dataset: range\(10\) -> batch\(2\).*this dataset: +range\(10\) -> batch\(4\)",
    ):
        iter(Dataset.range(10).batch(4)).set_state(state)


def test_a_state_of_another_version_is_refused() -> None:
    dataset = Dataset.range(3)
    with pytest.raises(ValueError, match="belongs to another dataset"):
        iter(dataset).set_state({**kept(iter(dataset)), "version": 0})


def test_a_refused_state_leaves_the_iterator_where_it_was() -> None:
    iterator = iter(Dataset.range(4))
    next(iterator)
    with pytest.raises(ValueError, match="belongs to another dataset"):
        iterator.set_state(kept(iter(Dataset.range(5))))
    assert rest(iterator) == [1, 2, 3]


def test_a_state_may_be_taken_before_the_first_and_after_the_last_element() -> None:
    for make in (
        lambda: Dataset.range(3),
        lambda: stream(3),
        lambda: stream(3).shuffle(2, seed=1).prefetch(1).batch(1),
    ):
        iterator = iter(make())
        first = kept(iterator)
        everything = rest(iterator)
        last = kept(iterator)
        assert restored(make(), first) == everything
        assert restored(make(), last) == []


def test_an_iterator_can_go_back() -> None:
    iterator = iter(stream(5))
    state = kept(iterator)
    assert rest(iterator) == [0, 1, 2, 3, 4]
    iterator.set_state(state)
    assert rest(iterator) == [0, 1, 2, 3, 4]


def test_rows_before_the_position_are_not_computed_again() -> None:
    calls: list[int] = []

    def host(x: Any) -> Any:
        calls.append(int(np.asarray(x)))
        return np.asarray(x)

    iterator = iter(Dataset.range(1000).map(host))
    list(islice(iterator, 990))
    state = kept(iterator)
    calls.clear()
    assert restored(Dataset.range(1000).map(host), state) == list(range(990, 1000))
    assert calls == list(range(990, 1000))


def test_a_pass_without_end_is_restored_in_the_middle_of_a_window() -> None:
    def make() -> Dataset:
        return Dataset.range(7).shuffle(7, seed=1).repeat().batch(4)

    iterator = iter(make())
    list(islice(iterator, 30))
    again = iter(make())
    again.set_state(kept(iterator))
    assert [x.tolist() for x in islice(again, 20)] == [x.tolist() for x in islice(iterator, 20)]


def test_states_are_small_whatever_the_data() -> None:
    iterator = iter(Dataset.from_tensor_slices(np.zeros((10_000, 10))).shuffle(10_000).batch(10))
    list(islice(iterator, 500))
    assert len(json.dumps(iterator.get_state())) < 500


def test_after_its_end_an_iterator_stays_at_its_end() -> None:
    iterator = iter(stream(2))
    list(iterator)
    assert next(iterator, None) is None
    assert next(iterator, None) is None


def test_after_closing_there_is_no_element_but_still_a_state() -> None:
    with iter(stream(5)) as iterator:
        next(iterator)
    assert next(iterator, None) is None
    assert restored(stream(5), kept(iterator)) == [1, 2, 3, 4]
    iterator.close()


def test_leaving_a_loop_closes_the_generator() -> None:
    running: list[str] = []

    def numbers() -> Any:
        running.append("generator")
        try:
            yield from range(5)
        finally:
            running.pop()

    for _ in Dataset.from_generator(numbers).batch(2).prefetch(1):
        assert running
        break
    assert running == []


def test_tf_datas_ways_to_ask_for_an_element() -> None:
    iterator = iter(Dataset.range(2))
    assert int(iterator.get_next()) == 0
    assert iterator.element_spec == TensorSpec((), "int64")
    optional = iterator.get_next_as_optional()
    assert optional.has_value()
    assert int(optional.get_value()) == 1
    nothing = iterator.get_next_as_optional()
    assert not nothing.has_value()
    with pytest.raises(ValueError, match="Check has_value"):
        nothing.get_value()


def test_iterators_of_one_dataset_do_not_disturb_each_other() -> None:
    dataset = stream(6).map(lambda x: x + 1).batch(2)
    pairs = [(one.tolist(), other.tolist()) for one, other in zip(dataset, dataset, strict=True)]
    assert pairs == [([1, 2], [1, 2]), ([3, 4], [3, 4]), ([5, 6], [5, 6])]


def test_elements_cannot_be_used_to_change_the_data() -> None:
    data = np.zeros((4, 2))
    for dataset in (Dataset.from_tensor_slices(data), Dataset.from_tensor_slices(data).batch(2)):
        for element in dataset:
            with pytest.raises(ValueError, match="read-only"):
                element += 1
    assert data.sum() == 0
