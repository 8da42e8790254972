from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import jax
import keras
import numpy as np
import pytest

import unisono
import unisono._src.strategy
from unisono._src.strategy import OutOfRangeError, PerReplica, PerReplicaSpec, Strategy
from unisono.data import Dataset, Options, TensorSpec

PIPELINE_THREADS = "unisono-data"


class Rows(NamedTuple):
    x: Any
    label: Any


@pytest.fixture
def pair() -> Strategy:
    return unisono.MirroredStrategy(["cpu:0", "cpu:1"])


@pytest.fixture
def alone() -> Strategy:
    return unisono.OneDeviceStrategy("cpu:3")


def rows(leaf: Any) -> list[Any]:
    return [np.asarray(value).tolist() for value in leaf.values]


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(PIPELINE_THREADS)]


# What a step holds


def test_each_value_lives_on_the_device_of_its_replica(pair: Strategy) -> None:
    for step in pair.experimental_distribute_dataset(Dataset.range(8).batch(4)):
        assert isinstance(step, PerReplica)
        assert [value.devices() for value in step.values] == [{device} for device in pair.placement.devices]


def test_the_last_batch_is_split_by_the_rows_it_has(pair: Strategy) -> None:
    dataset = Dataset.from_tensor_slices(np.arange(10, dtype=np.float32).reshape(5, 2)).batch(4)
    *_, last = pair.experimental_distribute_dataset(dataset)
    assert [value.shape for value in last.values] == [(1, 2), (0, 2)]
    assert rows(last) == [[[8.0, 9.0]], []]


def test_tuples_dicts_and_namedtuples_keep_their_structure(pair: Strategy) -> None:
    data = (np.arange(4), {"b": np.arange(4) * 2, "a": Rows(np.arange(4) * 3, np.array(["p", "q", "r", "s"]))})
    (step,) = pair.experimental_distribute_dataset(Dataset.from_tensor_slices(data).batch(4))
    assert rows(step[0]) == [[0, 1], [2, 3]]
    assert rows(step[1]["b"]) == [[0, 2], [4, 6]]
    assert isinstance(step[1]["a"], Rows)
    assert rows(step[1]["a"].x) == [[0, 3], [6, 9]]


def test_strings_are_split_and_stay_numpy(pair: Strategy) -> None:
    dataset = Dataset.from_tensor_slices((np.array(["a", "b", "c"]), np.array([b"x", b"y", b"z"]))).batch(3)
    ((text, raw),) = pair.experimental_distribute_dataset(dataset)
    assert [type(value) for value in (*text.values, *raw.values)] == [np.ndarray] * 4
    assert (rows(text), rows(raw)) == ([["a", "b"], ["c"]], [[b"x", b"y"], [b"z"]])


def test_a_part_that_is_none_stays_none(pair: Strategy) -> None:
    distributed = pair.experimental_distribute_dataset(Dataset.range(2).batch(2).map(lambda x: (x, None)))
    ((x, nothing),) = distributed
    assert (rows(x), nothing) == ([[0], [1]], None)
    assert distributed.element_spec[1] is None


def test_one_replica_gets_plain_arrays_on_its_device(alone: Strategy) -> None:
    distributed = alone.experimental_distribute_dataset(Dataset.range(5).batch(4))
    steps = list(distributed)
    assert [step.tolist() for step in steps] == [[0, 1, 2, 3], [4]]
    assert all(step.devices() == set(alone.placement.devices) for step in steps)
    assert distributed.element_spec == TensorSpec((None,), "int32")


def test_one_replica_needs_no_batches(alone: Strategy) -> None:
    assert [int(x) for x in alone.experimental_distribute_dataset(Dataset.range(3))] == [0, 1, 2]


def test_outside_of_all_scopes_there_is_one_replica() -> None:
    distributed = unisono.get_strategy().experimental_distribute_dataset(Dataset.range(2).batch(2))
    assert [step.tolist() for step in distributed] == [[0, 1]]


def test_the_spec_is_that_of_the_values_64_bits_become_32_on_devices(pair: Strategy) -> None:
    dataset = Dataset.from_tensor_slices({"x": np.zeros((4, 3)), "s": np.array(["a"] * 4)}).batch(
        4, drop_remainder=True
    )
    on_devices = pair.experimental_distribute_dataset(dataset).element_spec
    assert on_devices["x"] == PerReplicaSpec(*[TensorSpec((2, 3), "float32")] * 2)
    assert on_devices["s"] == PerReplicaSpec(*[TensorSpec((2,), "<U1")] * 2)
    options = unisono.InputOptions(experimental_fetch_to_device=False)
    on_host = pair.experimental_distribute_dataset(dataset, options).element_spec
    assert on_host["x"] == PerReplicaSpec(*[TensorSpec((2, 3), "float64")] * 2)


def test_the_strategys_values_go_into_a_computation_over_its_devices(pair: Strategy) -> None:
    (step,) = pair.experimental_distribute_dataset(Dataset.range(4).batch(4))
    whole = jax.make_array_from_single_device_arrays((4,), pair.placement.row_layout((4,)), list(step.values))
    assert int(jax.jit(lambda x: x.sum())(whole)) == 6


# From a function


def test_elements_of_a_function_are_assigned_one_by_one_and_a_short_step_is_filled(pair: Strategy) -> None:
    contexts = []

    def batches(context: unisono.InputContext) -> Dataset:
        contexts.append(context)
        return Dataset.from_tensor_slices((np.arange(10).reshape(5, 2), np.arange(5))).batch(2)

    distributed = pair.distribute_datasets_from_function(batches)
    steps = list(distributed)
    assert contexts == [unisono.InputContext(1, 0, 2)]
    assert [rows(y) for _, y in steps] == [[[0, 1], [2, 3]], [[4], []]]
    last = steps[-1][0]
    assert [value.shape for value in last.values] == [(1, 2), (0, 2)]
    assert [value.devices() for value in last.values] == [{device} for device in pair.placement.devices]
    assert (distributed.cardinality, len(steps)) == (3, 2)


def test_a_short_step_of_fixed_shapes_is_left_out_and_all_ways_to_read_agree(pair: Strategy) -> None:
    distributed = pair.distribute_datasets_from_function(lambda context: Dataset.range(5))
    assert [rows(step) for step in distributed] == [[0, 1], [2, 3]]
    iterator = iter(distributed)
    read = [iterator.get_next_as_optional().has_value() for _ in range(3)]
    assert read == [True, True, False]


def test_shapes_that_are_known_only_at_run_time_are_taken_from_the_first_element(pair: Strategy) -> None:
    def dealt(dataset: Dataset) -> list[Any]:
        return [rows(step) for step in pair.distribute_datasets_from_function(lambda context: dataset)]

    assert dealt(Dataset.range(3).map(lambda x: np.asarray(int(x)))) == [[0, 1]]
    assert dealt(Dataset.range(3).batch(1).map(lambda x: np.array(x.tolist()))) == [[[0], [1]], [[2], []]]


def test_a_number_beside_a_batch_is_zero_in_a_step_that_is_filled(pair: Strategy) -> None:
    *_, (number, batch) = pair.distribute_datasets_from_function(lambda context: Dataset.range(6).batch(2).enumerate(7))
    assert (rows(number), rows(batch)) == ([9, 0], [[4, 5], []])


def test_values_of_a_function_are_one_for_each_replica(pair: Strategy, alone: Strategy) -> None:
    value = pair.experimental_distribute_values_from_function(lambda context: {"id": context.replica_id_in_sync_group})
    assert rows(value["id"]) == [0, 1]
    assert [each.devices() for each in value["id"].values] == [{device} for device in pair.placement.devices]
    assert int(alone.experimental_distribute_values_from_function(lambda context: context.num_replicas_in_sync)) == 1


# Reading


def test_each_pass_reads_again_and_reduce_reads_all(pair: Strategy) -> None:
    distributed = pair.experimental_distribute_dataset(Dataset.range(6).batch(4))
    totals = [distributed.reduce(0, lambda total, step: total + sum(map(sum, rows(step)))) for _ in range(2)]
    assert totals == [15, 15]
    assert not hasattr(distributed, "__len__")
    assert distributed


def test_get_next_ends_with_an_error_of_its_own_and_next_with_pythons(pair: Strategy) -> None:
    iterator = iter(pair.experimental_distribute_dataset(Dataset.range(4).batch(4)))
    assert iterator.element_spec == PerReplicaSpec(*[TensorSpec((None,), "int32")] * 2)
    assert rows(iterator.get_next()) == [[0, 1], [2, 3]]
    with pytest.raises(OutOfRangeError, match=r"range\(4\) -> batch\(4\).*get_next_as_optional"):
        iterator.get_next()
    with pytest.raises(StopIteration):
        next(iterator)


def test_an_error_in_the_users_function_comes_out_where_its_step_would_have(pair: Strategy) -> None:
    def fails(x: Any) -> Any:
        if x.tolist() == [2, 3]:
            raise ZeroDivisionError("of the user")
        return x

    iterator = iter(pair.experimental_distribute_dataset(Dataset.range(6).batch(2).map(fails)))
    assert rows(next(iterator)) == [[0], [1]]
    with pytest.raises(ZeroDivisionError, match="of the user"):
        next(iterator)


def test_the_next_step_is_prepared_while_one_is_used(pair: Strategy) -> None:
    made = []

    def batches() -> Iterator[Any]:
        for number in range(9):
            made.append(number)
            yield np.full(2, number)

    dataset = Dataset.from_generator(batches, output_signature=TensorSpec((2,), "int64"))
    with iter(pair.experimental_distribute_dataset(dataset)) as iterator:
        next(iterator)
        deadline = time.monotonic() + 5
        while len(made) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert made == [0, 1]


@pytest.mark.parametrize(("buffer_size", "num_made"), [(0, 1), (3, 4)])
def test_as_many_steps_wait_as_the_options_say(pair: Strategy, buffer_size: int, num_made: int) -> None:
    made = []

    def note(x: Any) -> Any:
        made.append(x.tolist())
        return np.asarray(x.tolist())

    options = unisono.InputOptions(experimental_per_replica_buffer_size=buffer_size)
    with iter(pair.experimental_distribute_dataset(Dataset.range(20).batch(2).map(note), options)) as iterator:
        next(iterator)
        deadline = time.monotonic() + 5
        while len(made) < num_made and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(made) == num_made


def test_without_fetching_values_stay_numpy_and_no_thread_runs(pair: Strategy) -> None:
    options = unisono.InputOptions(experimental_fetch_to_device=False)
    iterator = iter(pair.experimental_distribute_dataset(Dataset.range(4).batch(2), options))
    step = next(iterator)
    assert [(type(value), value.dtype) for value in step.values] == [(np.ndarray, np.int64)] * 2
    assert not threads()


def test_a_pass_that_is_closed_in_the_middle_leaves_no_thread(pair: Strategy) -> None:
    iterator = iter(pair.experimental_distribute_dataset(Dataset.range(99).batch(2).prefetch(2)))
    next(iterator)
    assert threads()
    iterator.close()
    assert not threads()


@pytest.mark.slow
def test_a_pass_without_references_leaves_no_thread(pair: Strategy) -> None:
    for _ in pair.distribute_datasets_from_function(lambda context: Dataset.range(99).batch(2)):
        break
    gc.collect()
    assert not threads()


# State


@pytest.mark.parametrize("num_read", range(5))
@pytest.mark.parametrize("way", ["split", "dealt"])
def test_a_pass_continues_from_its_state_in_an_iterator_of_the_same_lines(
    pair: Strategy, way: str, num_read: int
) -> None:
    def steps() -> Any:
        dataset = Dataset.range(15).shuffle(15).batch(2)  # the seed is drawn, and the state knows it
        if way == "split":
            return iter(pair.experimental_distribute_dataset(dataset))
        return iter(pair.distribute_datasets_from_function(lambda context: dataset))

    with steps() as first, steps() as second:
        for _ in range(num_read):
            next(first)
        state = json.loads(json.dumps(first.get_state()))
        second.set_state(state)
        assert [rows(step) for step in second] == [rows(step) for step in first]
        assert second.get_state() == first.get_state()


def test_a_state_is_restored_with_another_number_of_replicas(pair: Strategy, alone: Strategy) -> None:
    dataset = Dataset.range(12).shuffle(12, seed=1).batch(4)
    first = iter(pair.experimental_distribute_dataset(dataset))
    second = iter(alone.experimental_distribute_dataset(dataset))
    next(first)
    second.set_state(first.get_state())
    assert [step.tolist() for step in second] == [
        np.concatenate([np.asarray(value) for value in step.values]).tolist() for step in first
    ]


def test_a_state_of_another_dataset_is_refused(pair: Strategy) -> None:
    with iter(pair.experimental_distribute_dataset(Dataset.range(4).shuffle(4).batch(2))) as one:
        state = one.get_state()
    with (
        iter(pair.experimental_distribute_dataset(Dataset.range(4).batch(4))) as other,
        pytest.raises(ValueError, match=r"belongs to another dataset(.|\n)*batch\(2\)(.|\n)*batch\(4\)"),
    ):
        other.set_state(state)


# What is refused


def test_a_batch_without_rows_has_a_value_for_each_replica(pair: Strategy) -> None:
    dataset = Dataset.from_tensor_slices(np.arange(4.0, dtype=np.float32)).batch(4).map(lambda x: np.asarray(x)[x > 9])
    (step,) = pair.experimental_distribute_dataset(dataset)
    assert [value.shape for value in pair.experimental_local_results(step)] == [(0,), (0,)]
    total = pair.run(lambda x: keras.ops.sum(x), args=(step,))
    assert [float(value) for value in pair.experimental_local_results(total)] == [0.0, 0.0]


def test_elements_without_rows_are_refused_at_once_with_what_to_write(pair: Strategy) -> None:
    expected = r"element has no rows to split over 2 replicas: TensorSpec\(shape=\(\), dtype=int64\)(.|\n)*\.batch\("
    with pytest.raises(ValueError, match=expected):
        pair.experimental_distribute_dataset(Dataset.range(4))
    with pytest.raises(ValueError, match=r"element\[0\] has no rows"):
        pair.experimental_distribute_dataset(Dataset.range(4).batch(2).enumerate())
    with pytest.raises(ValueError, match=r"element has no rows.*DatasetSpec"):
        pair.experimental_distribute_dataset(Dataset.range(4).window(2))


def test_what_only_a_run_can_tell_is_refused_when_it_runs_and_nothing_runs_before(pair: Strategy) -> None:
    calls = []

    def scalar(x: Any) -> Any:
        number = int(x)  # cannot be traced
        calls.append(number)
        return np.asarray(number)

    distributed = pair.experimental_distribute_dataset(Dataset.range(4).map(scalar))
    assert not calls
    with pytest.raises(ValueError, match=r"element has no rows.*array\(0\)"):
        next(iter(distributed))


def test_parts_with_different_numbers_of_rows_are_refused(pair: Strategy) -> None:
    dataset = Dataset.from_tensors((np.zeros(4), {"y": np.zeros(2)}))
    with pytest.raises(ValueError, match=r"element\[0\] has 4, element\[1\]\['y'\] has 2"):
        list(pair.experimental_distribute_dataset(dataset))


def test_datasets_inside_elements_cannot_be_dealt(pair: Strategy) -> None:
    with pytest.raises(ValueError, match=r"hold datasets.*flat_map"):
        pair.distribute_datasets_from_function(lambda context: Dataset.range(4).window(2))


@pytest.mark.parametrize("data", [np.zeros((4, 2)), [1, 2], None])
def test_what_is_no_dataset_is_refused_with_how_to_make_one(pair: Strategy, data: Any) -> None:
    with pytest.raises(TypeError, match=rf"got {type(data).__name__}.*from_tensor_slices"):
        pair.experimental_distribute_dataset(data)


def test_a_distributed_dataset_is_not_distributed_again(pair: Strategy) -> None:
    distributed = pair.experimental_distribute_dataset(Dataset.range(4).batch(2))
    with pytest.raises(TypeError, match=r"distributed already: <DistributedDataset: range\(4\) -> batch\(2\) -> split"):
        pair.experimental_distribute_dataset(distributed)  # type: ignore[arg-type]


def test_a_function_is_expected_that_returns_a_dataset(pair: Strategy) -> None:
    with pytest.raises(TypeError, match=r"got Dataset.*experimental_distribute_dataset\(dataset\)"):
        pair.distribute_datasets_from_function(Dataset.range(4))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="it returned int"):
        pair.distribute_datasets_from_function(lambda context: 3)  # type: ignore[arg-type, return-value]


def test_a_batch_that_does_not_divide_is_refused_with_one_that_does() -> None:
    context = unisono.InputContext(num_replicas_in_sync=4)
    with pytest.raises(ValueError, match=r"of 30 is not divisible by 4 replicas: 2 rows are left.*such as 28"):
        context.get_per_replica_batch_size(30)
    with pytest.raises(ValueError, match="such as 4"):
        context.get_per_replica_batch_size(3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (unisono.InputOptions(True, unisono.InputReplicationMode.PER_REPLICA), NotImplementedError, "PER_WORKER"),
        (unisono.InputOptions(experimental_place_dataset_on_device=True), NotImplementedError, "on the host"),
        (unisono.InputOptions(experimental_per_replica_buffer_size=-1), ValueError, "at least 0, but it is -1"),
        (Options(), TypeError, "unisono.InputOptions"),
    ],
)
def test_options_that_are_not_there_are_refused(pair: Strategy, options: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=f"^experimental_distribute_dataset: .*{message}"):
        pair.experimental_distribute_dataset(Dataset.range(4).batch(2), options)
    with pytest.raises(error, match=f"^distribute_datasets_from_function: .*{message}"):
        pair.distribute_datasets_from_function(lambda context: Dataset.range(4), options)
