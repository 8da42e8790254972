"""Random numbers inside maps: other ones for each element and epoch, the same in every run and every executor."""

from __future__ import annotations

import random as python_random
from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np
import pytest

from unisono._src.data.plans import Map, Plan, iterate
from unisono.data import AUTOTUNE, Dataset, TensorSpec, random

pytestmark = pytest.mark.slow

NUM_ROWS = 6
ROWS = np.ones((NUM_ROWS, 4), "float32")

generator_with_seed = keras.random.SeedGenerator(7)
flip = keras.layers.RandomFlip("horizontal", seed=3)
gaussian = keras.layers.GaussianNoise(0.5, seed=3)


def by_jax(x: Any) -> Any:
    return x + jax.random.uniform(random.key(), (4,), "float32")


def by_keras(x: Any) -> Any:
    return x + keras.random.uniform((4,))


def by_a_keras_generator(x: Any) -> Any:
    return x + keras.random.normal((4,), seed=generator_with_seed)


def by_a_keras_layer(x: Any) -> Any:
    return gaussian(x, training=True)


def by_numpy(x: Any) -> Any:
    return np.asarray(x) + random.generator().random(4, "float32")


def twice(x: Any) -> Any:
    first, second = (jax.random.uniform(random.key(), (), "float32") for _ in range(2))
    return x * 0 + first - second


TRACEABLE = [by_jax, by_keras, by_a_keras_generator, by_a_keras_layer, twice]
every_way = pytest.mark.parametrize("function", [*TRACEABLE, by_numpy], ids=lambda function: function.__name__)


def rows() -> Dataset:
    return Dataset.from_tensor_slices(ROWS)


def stream() -> Dataset:
    return Dataset.from_generator(lambda: iter(ROWS), output_signature=TensorSpec((4,), "float32"))


def seeded(dataset: Dataset) -> Dataset:
    return dataset._with_seeds(range(len(dataset._plan.seeds)))


def two_epochs(dataset: Dataset) -> np.ndarray:
    """All rows of two passes."""
    return np.concatenate([np.reshape(np.asarray(list(dataset)), (-1, 4)) for _ in range(2)])


def reference(dataset: Dataset) -> np.ndarray:
    passes = [np.reshape(np.asarray(list(iterate(dataset._plan, k))), (-1, 4)) for k in range(2)]
    return np.concatenate(passes)


def on_the_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, where it cannot be compiled."""

    def untraceable(x: Any) -> Any:
        return np.asarray(function(np.asarray(x)))

    return untraceable


@every_way
def test_every_element_and_every_epoch_has_its_own(function: Callable[..., Any]) -> None:
    for dataset in (rows(), stream()):
        numbers = two_epochs(dataset.map(function))
        assert len(np.unique(numbers, axis=0)) == 2 * NUM_ROWS


@every_way
def test_a_second_run_draws_the_same(function: Callable[..., Any]) -> None:
    first = two_epochs(seeded(rows().map(function)))
    keras.random.uniform((3,))  # what else was drawn in between changes nothing
    np.testing.assert_array_equal(two_epochs(seeded(rows().map(function))), first)


def test_setting_keras_seed_makes_everything_repeatable() -> None:
    def run() -> np.ndarray:
        keras.utils.set_random_seed(5)
        return two_epochs(rows().shuffle(9).map(by_keras).map(by_numpy))

    np.testing.assert_array_equal(run(), run())


def test_other_seeds_draw_other_numbers() -> None:
    dataset = rows().map(by_jax)
    assert not np.array_equal(two_epochs(dataset._with_seeds([1])), two_epochs(dataset._with_seeds([2])))


def test_two_maps_with_one_function_draw_apart() -> None:
    dataset = Dataset.from_tensor_slices(np.zeros((3, 4), "float32")).map(by_jax)
    first = np.asarray(list(dataset))
    both = np.asarray(list(dataset.map(by_jax)))
    assert np.abs(both - 2 * first).min() > 0


@every_way
def test_all_executors_draw_the_same(function: Callable[..., Any]) -> None:
    """Compiled rows, Python on rows, Python on a stream, threads, one call per batch and the reference."""
    expected = reference(seeded(rows().map(function)))
    ways = {
        "compiled rows": rows().map(function),
        "compiled batches": rows().map(function).batch(4),
        "rows in Python": rows().map(on_the_host(function)),
        "batches in Python": rows().map(on_the_host(function)).batch(4).unbatch(),
        "rows in threads": rows().map(on_the_host(function), AUTOTUNE),
        "a stream": stream().map(function),
        "a stream in threads": stream().map(function, num_parallel_calls=3),
        "batches of a stream": stream().map(function).batch(4).unbatch(),
        "a prefetched stream": stream().map(function).batch(2).prefetch(2).unbatch(),
        "a filtered stream": rows().filter(lambda x: True).map(function).batch(3).unbatch(),
    }
    for name, dataset in ways.items():
        given = np.concatenate([np.reshape(element, (-1, 4)) for element in seeded(dataset)])
        np.testing.assert_allclose(given, expected[:NUM_ROWS], rtol=1e-6, atol=1e-6, err_msg=name)


def test_the_order_does_not_change_what_an_element_draws() -> None:
    numbers = np.arange(8.0, dtype="float32")

    def noise(x: Any) -> Any:
        return x, jax.random.uniform(random.key(), (), "float32")

    def drawn(dataset: Dataset) -> dict[float, float]:
        return {float(x): float(y) for x, y in seeded_maps(dataset)}

    def seeded_maps(dataset: Dataset) -> Dataset:
        operations = [Map(noise, seed=4) if isinstance(each, Map) else each for each in dataset._plan.operations]
        return Dataset(Plan(dataset._plan.source, tuple(operations)))

    data = Dataset.from_tensor_slices(numbers)
    expected = drawn(data.map(noise))
    assert drawn(data.shuffle(8, seed=3).map(noise)) == drawn(data.map(noise).shuffle(8, seed=3)) == expected
    assert drawn(data.shard(2, 1).map(noise)).items() <= expected.items()
    assert drawn(data.skip(3).map(noise).take(2)).items() <= expected.items()


@pytest.mark.parametrize("cache", ["memory", "file"])
def test_augmentation_after_a_cache_continues(cache: str, tmp_path: Any) -> None:
    dataset = rows().cache("" if cache == "memory" else tmp_path / "kept").map(by_jax)
    assert len(np.unique(two_epochs(dataset), axis=0)) == 2 * NUM_ROWS


def test_augmentation_before_a_cache_is_kept() -> None:
    for function in (by_jax, by_numpy):
        numbers = two_epochs(rows().map(function).cache())
        np.testing.assert_array_equal(numbers[:NUM_ROWS], numbers[NUM_ROWS:])


def test_repeated_rows_draw_anew_in_each_round() -> None:
    for dataset in (rows(), stream()):
        assert len(np.unique(np.asarray(list(dataset.repeat(3).map(by_jax))), axis=0)) == 3 * NUM_ROWS
        assert len(np.unique(np.asarray(list(dataset.map(by_jax).repeat(3))), axis=0)) == 3 * NUM_ROWS


def test_datasets_that_are_joined_draw_apart() -> None:
    one, other = rows(), rows()
    for dataset in (
        one.concatenate(other),
        stream().concatenate(stream()),
        Dataset.choose_from_datasets([one, other], Dataset.range(2).repeat(NUM_ROWS)),
        Dataset.range(2).flat_map(lambda _: rows()),
        rows().batch(3).unbatch().repeat(2),
    ):
        assert len(np.unique(np.asarray(list(dataset.map(by_jax))), axis=0)) == 2 * NUM_ROWS, dataset


def test_a_map_of_batches_draws_once_for_each_batch() -> None:
    for dataset in (rows(), stream()):
        numbers = two_epochs(dataset.batch(3).map(by_jax))
        assert len(np.unique(numbers, axis=0)) == 4


def test_a_random_layer_of_keras_augments_images() -> None:
    images = np.arange(4 * 3 * 2, dtype="float32").reshape(4, 3, 2, 1)
    dataset = Dataset.from_tensor_slices(images).repeat(8).map(lambda x: flip(x, training=True))
    flipped = [bool(x[0, 0, 0] > x[0, 1, 0]) for x in dataset]
    assert 8 < sum(flipped) < 24
    assert [bool(x[0, 0, 0] > x[0, 1, 0]) for x in iterate(dataset._plan)] == flipped


def test_two_layers_with_one_seed_draw_the_same() -> None:
    image_flip, mask_flip = (keras.layers.RandomFlip("horizontal", seed=5) for _ in range(2))
    rows = np.arange(64, dtype="float32").reshape(16, 2, 2, 1)
    pairs = list(Dataset.from_tensor_slices((rows, rows)).map(lambda x, y: (image_flip(x), mask_flip(y))))
    assert all((np.asarray(image) == np.asarray(mask)).all() for image, mask in pairs)
    assert 0 < sum(np.asarray(image)[0, 0, 0] > np.asarray(image)[0, 1, 0] for image, _ in pairs) < 16


def test_one_seeded_generator_draws_anew_each_time() -> None:
    generator = keras.random.SeedGenerator(5)
    pairs = list(Dataset.range(3).map(lambda x: [keras.random.uniform((), seed=generator) for _ in range(2)]))
    assert len({float(value) for pair in pairs for value in pair}) == 6


def test_maps_leave_the_state_of_keras_generators_alone() -> None:
    before = np.asarray(generator_with_seed.state)
    list(rows().map(by_a_keras_generator))
    np.testing.assert_array_equal(np.asarray(generator_with_seed.state), before)


@pytest.mark.parametrize("draw", [lambda: np.random.rand(), python_random.random], ids=["numpy", "python"])
def test_a_global_generator_inside_a_map_makes_it_run_on_the_host(draw: Callable[[], float]) -> None:
    dataset = Dataset.from_tensor_slices(np.zeros(5)).map(lambda x: x + draw())
    assert "numpy.random" in dataset.explain()
    assert len({float(x) for x in dataset}) == 5


def test_tracing_draws_nothing_from_global_generators() -> None:
    np.random.seed(3)
    expected = np.random.rand(2)
    np.random.seed(3)
    dataset = Dataset.from_tensor_slices(np.zeros(2)).map(lambda x: x + np.random.rand())
    _ = repr(dataset), dataset.explain()
    np.testing.assert_array_equal([float(x) for x in dataset], expected)


@pytest.mark.parametrize("name", ["key", "generator"])
def test_outside_of_maps_there_is_nothing_to_follow(name: str) -> None:
    with pytest.raises(RuntimeError, match=rf"data.random.{name}\(\) was called outside a map function"):
        getattr(random, name)()


def test_a_pass_that_is_restored_draws_what_it_would_have_drawn() -> None:
    for dataset in (
        rows().map(by_jax).batch(2),
        stream().map(by_jax).shuffle(3, seed=1),
        rows().map(by_numpy, AUTOTUNE),
    ):
        iterator = iter(dataset)
        next(iterator)
        next(iterator)
        again = iter(Dataset(dataset._plan))
        again.set_state(iterator.get_state())
        for one, other in zip(iterator, again, strict=True):
            np.testing.assert_array_equal(one, other)
