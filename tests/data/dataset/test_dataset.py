from __future__ import annotations

import subprocess
import sys
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from unisono._src.data.plans import Batch, index_plan
from unisono.data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset, TensorSpec


def numbers(size: int) -> Dataset:
    return Dataset.from_tensor_slices(np.arange(size))


def taken(dataset: Dataset) -> list[Any]:
    return [element.tolist() for element in dataset]


def test_tf_datas_constants_have_their_values() -> None:
    assert (AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY) == (-1, -1, -2)


def test_tf_datas_arguments_are_accepted() -> None:
    dataset = (
        Dataset.from_tensor_slices(np.arange(6), name="numbers")
        .cache("", name="c")
        .map(lambda x: x * 2, num_parallel_calls=AUTOTUNE, deterministic=False, name="m")
        .shuffle(10, seed=1, reshuffle_each_iteration=None, name="s")
        .batch(4, drop_remainder=False, num_parallel_calls=2, deterministic=True, name="b")
        .repeat(2, name="r")
        .prefetch(AUTOTUNE, name="p")
    )
    assert sorted(np.concatenate(list(dataset)).tolist()) == sorted([0, 2, 4, 6, 8, 10] * 2)


def test_methods_return_new_datasets_and_leave_the_old_one_alone() -> None:
    dataset = numbers(4)
    dataset.batch(2)
    assert taken(dataset) == [0, 1, 2, 3]


def test_every_pass_over_one_object_is_shuffled_anew() -> None:
    dataset = numbers(20).shuffle(20, seed=5)
    first, second = taken(dataset), taken(dataset)
    assert first != second
    assert taken(numbers(20).shuffle(20, seed=5)) == first


def test_a_pass_begins_with_iter_and_not_with_the_first_element() -> None:
    dataset = numbers(20).shuffle(20, seed=5)
    early, late = iter(dataset), iter(dataset)
    second = [int(x) for x in late]
    first = [int(x) for x in early]
    again = numbers(20).shuffle(20, seed=5)
    assert (taken(again), taken(again)) == (first, second)


def test_each_dataset_counts_its_own_passes() -> None:
    dataset = numbers(3)
    assert [dataset._next_iteration() for _ in range(3)] == [0, 1, 2]
    assert dataset.batch(2)._next_iteration() == 0


def test_the_global_seed_of_numpy_governs_unseeded_shuffles() -> None:
    np.random.seed(3)
    first = taken(numbers(20).shuffle(20))
    np.random.seed(3)
    assert taken(numbers(20).shuffle(20)) == first


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("function", [lambda x: x / 2, lambda x: x * 2, lambda x: x.sum() + 1, jnp.negative])
def test_elements_have_the_dtypes_of_the_spec_whoever_computes_them(dtype: str, function: Any) -> None:
    rows = np.ones((4, 2), dtype)
    signature = TensorSpec((2,), dtype)
    arrays = Dataset.from_tensor_slices(rows)
    generated = Dataset.from_generator(lambda: iter(rows), output_signature=signature)
    for dataset in (arrays, arrays.map(lambda x: np.asarray(x)), generated, generated.filter(lambda x: True)):
        for mapped in (dataset.map(function), dataset.map(function).batch(2), dataset.batch(2).map(function)):
            assert next(iter(mapped)).dtype == mapped.element_spec.dtype, mapped.explain()


def test_elements_of_maps_that_run_on_the_host_are_left_alone() -> None:
    dataset = Dataset.from_tensor_slices(np.arange(4)).map(lambda x: str(int(x) * 50))
    assert [np.asarray(element).item() for element in dataset] == ["0", "50", "100", "150"]


def test_a_pass_calls_a_host_map_once_per_element() -> None:
    calls: list[int] = []
    list(numbers(4).map(lambda x: calls.append(int(x)) or float(x)))
    assert calls == [0, 1, 2, 3]


def test_strings_survive_maps_that_return_them() -> None:
    names = np.array(["a", "long name"])
    dataset = Dataset.from_tensor_slices((np.arange(2), names)).map(lambda x, name: (x + 1, name))
    assert [(int(x), np.asarray(name).item()) for x, name in dataset] == [(1, "a"), (2, "long name")]


def test_as_numpy_iterator_is_a_pass() -> None:
    iterator = numbers(3).as_numpy_iterator()
    assert int(next(iterator)) == 0


def test_the_length_is_the_number_of_elements() -> None:
    assert len(numbers(10).batch(4)) == numbers(10).batch(4).cardinality() == 3
    assert len(numbers(10).batch(4).repeat(2)) == 6


def test_an_endless_dataset_has_no_length() -> None:
    dataset = numbers(10).repeat()
    assert dataset.cardinality() == INFINITE_CARDINALITY
    with pytest.raises(TypeError, match=r"without end: 10 rows -> repeat\(\).*steps_per_epoch"):
        len(dataset)


def test_a_dataset_is_true_even_if_it_is_endless_or_empty() -> None:
    assert numbers(10).repeat()
    assert numbers(2).batch(5, drop_remainder=True)


def test_the_plan_is_what_was_written() -> None:
    plan = numbers(10).shuffle(10, seed=1).batch(4)._plan
    assert plan.operations[1] == Batch(4)
    assert index_plan(plan) is not None


def test_repr_shows_the_plan_and_the_elements() -> None:
    def scale(x: Any) -> Any:
        return x * np.float64(2)

    dataset = Dataset.from_tensor_slices(np.zeros((6, 2), np.uint8)).map(scale).shuffle(10).batch(4)
    assert repr(dataset) == (
        "<Dataset: 6 rows -> map(scale) -> shuffle(10) -> batch(4), "
        "element_spec=TensorSpec(shape=(None, 2), dtype=float64)>"
    )


def test_repr_runs_no_function_of_the_user() -> None:
    def host(x: Any) -> Any:
        raise ValueError("not now")

    dataset = numbers(3).map(host)
    assert repr(dataset) == (
        "<Dataset: 3 rows -> map(host), element_spec=unknown (map(host) cannot be traced: ValueError: not now)>"
    )


def test_repr_shows_the_elements_of_a_host_map_once_they_are_known() -> None:
    dataset = numbers(3).map(lambda x: float(x))
    assert dataset.element_spec.shape == ()
    assert "element_spec=TensorSpec(shape=(), dtype=float64)" in repr(dataset)


@pytest.mark.slow
def test_making_and_describing_a_dataset_does_not_start_jax() -> None:
    # The number of CPU devices can be chosen until the backend starts: a dataset must not spoil that.
    program = """
import numpy as np
from unisono.data import Dataset
dataset = Dataset.from_tensor_slices(np.zeros((6, 2), np.uint8)).map(lambda x: x / 255).shuffle(6).batch(4)
repr(dataset), dataset.element_spec, dataset.explain(), len(dataset)
import jax
jax.config.update("jax_num_cpu_devices", 3)
assert len(jax.devices("cpu")) == 3, jax.devices()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_the_order_of_interleave_does_not_depend_on_the_machine() -> None:
    twice = Dataset.range(20).interleave(lambda x: Dataset.from_tensors(x).repeat(2))
    assert [int(x) for x in twice][:34] == [*range(16), *range(16), 16, 17]


def test_a_dataset_that_is_zipped_alone_keeps_its_maps() -> None:
    pairs = Dataset.from_tensor_slices(([1, 2], [10, 20])).map(lambda x, y: x + y)
    (batch,) = Dataset.zip(pairs).batch(2)
    assert batch.tolist() == [11, 22]
