"""`unisono.find_batch_size`: programs are compiled and not run, and the model stays as it is."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest

import unisono
from unisono._src.planning import examine_model, search_largest_batch
from unisono._src.training import programs

X = np.random.default_rng(0).normal(size=(4096, 16)).astype("float32")
Y = X.sum(axis=1, keepdims=True)


def make_model(strategy: unisono.Strategy | None = None, *, built: bool = True, **options: Any) -> keras.Model:
    keras.utils.set_random_seed(1)
    with (strategy or unisono.MirroredStrategy(["cpu:0", "cpu:1"])).scope():
        layers = [keras.layers.Dense(64, activation="relu"), keras.layers.Dropout(0.2), keras.layers.Dense(1)]
        model = keras.Sequential([*([keras.Input((16,))] if built else []), *layers])
        model.compile("adam", "mse", metrics=["mae"], **options)
    return model


def state_of(model: keras.Model) -> list[np.ndarray[Any, Any]]:
    return [np.array(each) for each in (*model.variables, *model.optimizer.variables, *model.metrics_variables)]


def assert_same(one: list[np.ndarray[Any, Any]], other: list[np.ndarray[Any, Any]]) -> None:
    assert all((left == right).all() for left, right in zip(one, other, strict=True))


def search(per_row: int, fixed: int, limit: int, replicas: int = 2, num_rows: int | None = None) -> Any:
    return search_largest_batch(lambda rows: fixed + per_row * rows, replicas, limit, num_rows=num_rows, function="f")


@pytest.mark.parametrize(("limit", "expected"), [(1000, 96), (1100, 104), (64, 2), (10**6, 98304)])
def test_the_largest_batch_that_fits_is_found_with_few_programs(limit: int, expected: int) -> None:
    found = search(per_row=10, fixed=40, limit=limit)
    assert found.global_batch_size == expected
    assert found.bytes_by_batch[expected] <= limit
    assert len(found.bytes_by_batch) <= 6


def test_a_batch_is_not_larger_than_the_data() -> None:
    found = search(per_row=10, fixed=0, limit=10**9, num_rows=100)
    assert (found.global_batch_size, found.is_all_rows) == (96, True)


def test_the_largest_batch_that_is_tried_is_not_all_rows_of_data_of_unknown_length() -> None:
    assert not search(per_row=0, fixed=1, limit=10**9).is_all_rows


@pytest.mark.parametrize("kind", ["arrays", "dataset"])
def test_data_without_rows_is_refused(kind: str) -> None:
    data: Any = (X[:0], Y[:0])
    if kind == "dataset":
        data = unisono.data.Dataset.from_tensor_slices(data).batch(2)
    with pytest.raises(ValueError, match="find_batch_size: the data has no rows"):
        unisono.find_batch_size(make_model(), data, memory="1MB")


def test_a_row_that_does_not_fit_is_an_error_with_both_figures() -> None:
    with pytest.raises(ValueError, match=r"one row on each of 2 replicas needs 60 B on a device, and 50 B\n?may"):
        search(per_row=10, fixed=40, limit=50)


@pytest.mark.slow
def test_xla_says_how_many_rows_fit() -> None:
    model = make_model(unisono.OneDeviceStrategy("cpu:0"))
    found = unisono.find_batch_size(model, (X, Y), memory="800kB")
    with examine_model(model, (X, Y), None, "test") as examined:
        compiler, resident = examined.compiler, X.nbytes + Y.nbytes
        fits, larger = (
            compiler.memory(compiler.compile(examined.batch.spec(rows)), resident).total
            for rows in (found, found + found // 8)
        )
    assert 32 < found < 4096
    assert fits <= 800_000 < larger


@pytest.mark.full
def test_more_memory_than_the_data_needs_gives_all_rows() -> None:
    assert unisono.find_batch_size(make_model(), (X[:100], Y[:100]), memory="1GB") == 96


@pytest.mark.slow
@pytest.mark.parametrize("built", [True, False])
def test_training_afterwards_is_as_without_it(built: bool) -> None:
    weights = []
    for is_searched in (True, False):
        model = make_model(built=built)
        if built:
            model.fit(X[:64], Y[:64], batch_size=16, verbose=0)
        if is_searched:
            before, compiled = state_of(model), programs(model)
            unisono.find_batch_size(model, (X[:32], Y[:32]), memory="1MB")
            assert programs(model) == compiled
            if built:
                assert_same(before, state_of(model))
        model.fit(X[:64], Y[:64], batch_size=16, epochs=2, verbose=0)
        weights.append(state_of(model))
    assert_same(*weights)


@pytest.mark.full
def test_a_sharded_model_has_room_for_more_rows() -> None:
    devices = ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
    keras.utils.set_random_seed(1)
    found = []
    for strategy in (unisono.MirroredStrategy(devices), unisono.FullyShardedStrategy(devices)):
        with strategy.scope():
            model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(4096), keras.layers.Dense(1)])
            model.compile("adam", "mse")
        found.append(unisono.find_batch_size(model, (X, Y), memory="4MB"))
    assert found[0] < found[1]


def test_a_cpu_device_needs_the_argument() -> None:
    with pytest.raises(ValueError, match=r'find_batch_size\(model, data, memory="8GB"\)'):
        unisono.find_batch_size(make_model(), (X, Y))


def test_a_model_of_no_strategy_is_refused() -> None:
    model = keras.Sequential([keras.Input((16,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    with pytest.raises(ValueError, match="created outside every scope"):
        unisono.find_batch_size(model, (X, Y), memory="1MB")


def test_a_generator_is_refused() -> None:
    with pytest.raises(TypeError, match="the data is a generator"):
        unisono.find_batch_size(make_model(), (batch for batch in [(X, Y)]), memory="1MB")


def test_an_eager_model_is_refused() -> None:
    with pytest.raises(ValueError, match="run_eagerly"):
        unisono.find_batch_size(make_model(run_eagerly=True), (X, Y), memory="1MB")
