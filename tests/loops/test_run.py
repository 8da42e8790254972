"""`run`: the arguments and the results of each replica."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import PerReplica, Strategy
from unisono.data import TensorSpec

from ._replicas import local, mirrored, per_replica, replica_id

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]


# Arguments and results


def test_every_replica_runs_the_function_once_and_knows_its_number(strategy: Strategy, called: Called) -> None:
    result = called(lambda: strategy.run(lambda: replica_id("int32") + 1))()
    assert local(strategy, result) == [i + 1 for i in range(strategy.num_replicas_in_sync)]


def test_results_are_taken_apart_again_as_arguments_and_keyword_arguments(strategy: Strategy, called: Called) -> None:
    @called
    def chain() -> Any:
        first = strategy.run(lambda: replica_id("int32") + 1)
        second = strategy.run(lambda x: {"a": x * 2, "b": x * x}, args=(first,))
        third = strategy.run(lambda b, a: a + 2 * b + 2, kwargs=second)
        return first, second, third

    _, second, third = chain()
    numbers = range(1, strategy.num_replicas_in_sync + 1)
    assert local(strategy, second["a"]) == [2 * x for x in numbers]
    assert local(strategy, second["b"]) == [x * x for x in numbers]
    assert local(strategy, third) == [2 * x + 2 * x * x + 2 for x in numbers]


def test_a_plain_argument_is_the_same_for_all_replicas(strategy: Strategy, called: Called) -> None:
    for value in (2.0, np.float32(2), np.full((), 2.0, np.float32), jnp.asarray(2.0)):
        result = called(lambda x: strategy.run(lambda x: x * x, args=(x,)))(value)
        assert local(strategy, result) == [4.0] * strategy.num_replicas_in_sync


def test_parts_of_replicas_are_found_deep_inside_of_arguments(strategy: Strategy, called: Called) -> None:
    number = strategy.num_replicas_in_sync
    part = per_replica(strategy, [np.float32(10 * i) for i in range(number)])

    def step(nest: Any, *, more: Any) -> Any:
        return nest["x"][0] + nest["y"] + more[1]["z"]

    @called
    def call(part: Any) -> Any:
        nest, more = {"x": (part, 1), "y": np.float32(1)}, [None, {"z": part}]
        return strategy.run(step, args=(nest,), kwargs={"more": more})

    assert local(strategy, call(part)) == [20.0 * i + 1 for i in range(number)]


def test_nested_results_keep_their_structure(strategy: Strategy, called: Called) -> None:
    x = per_replica(strategy, [np.float32([i]) for i in range(strategy.num_replicas_in_sync)])
    (result,) = called(lambda x: strategy.run(lambda x: [{"a": x - 1, "b": (x + 1,)}], args=(x,)))(x)
    assert local(strategy, result["a"]) == [[i - 1.0] for i in range(strategy.num_replicas_in_sync)]
    assert local(strategy, result["b"][0]) == [[i + 1.0] for i in range(strategy.num_replicas_in_sync)]


def test_none_comes_back_as_none(strategy: Strategy, called: Called) -> None:
    assert called(lambda: strategy.run(lambda: None))() is None
    nothing, one = called(lambda: strategy.run(lambda: (None, jnp.ones(()))))()
    assert nothing is None
    assert local(strategy, one) == [1.0] * strategy.num_replicas_in_sync


def test_a_strategy_of_one_replica_gives_plain_values(alone: Strategy, called: Called) -> None:
    result = called(lambda: alone.run(lambda x: {"double": 2 * x}, args=(jnp.ones(3),)))()
    assert isinstance(result["double"], jax.Array)
    assert result["double"].tolist() == [2.0, 2.0, 2.0]


def test_several_replicas_give_values_that_live_where_they_were_made(several: Strategy, called: Called) -> None:
    result = called(lambda: several.run(replica_id))()
    assert isinstance(result, unisono.DistributedValues)
    assert isinstance(result, PerReplica)
    assert [value.devices() for value in result.values] == [{device} for device in several.placement.devices]


def test_methods_partials_and_callable_objects_can_be_run(pair: Strategy) -> None:
    class Scale:
        def __init__(self, by: float) -> None:
            self.by = by

        def __call__(self, x: Any) -> Any:
            return x * self.by

        def method(self, x: Any) -> Any:
            return x * self.by

    x = per_replica(pair, [np.float32(1), np.float32(2)])
    for fn in (Scale(3.0), Scale(3.0).method, functools.partial(jnp.multiply, 3.0)):
        assert local(pair, pair.run(fn, args=(x,))) == [3.0, 6.0]


def test_options_are_accepted(pair: Strategy) -> None:
    options = unisono.RunOptions()
    assert local(pair, pair.run(replica_id, options=options)) == [0.0, 1.0]


# experimental_local_results

RESULTS = {
    "a-dict": lambda: {"a": jnp.asarray(1.0), "b": jnp.asarray(2.0)},
    "a-list": lambda: [jnp.asarray(1.0), jnp.asarray(2.0)],
    "a-tuple": lambda: (jnp.asarray(1.0), jnp.asarray(2.0), jnp.asarray(3.0)),
    "nested": lambda: ({"a": jnp.asarray(1.0)}, {"b": [jnp.asarray(4.0), jnp.asarray(6.0)]}),
    "python-numbers": lambda: {"a": 1.0, "b": 2.0},
    "a-vector": lambda: jnp.asarray([2.0, 3.0]),
}


@pytest.mark.parametrize("name", RESULTS)
def test_local_results_are_a_tuple_with_the_whole_structure_for_each_replica(
    several: Strategy, called: Called, name: str
) -> None:
    expected = jax.tree.map(lambda x: np.asarray(x).tolist(), RESULTS[name]())
    found = several.experimental_local_results(called(lambda: several.run(RESULTS[name]))())
    assert isinstance(found, tuple)
    found = [jax.tree.map(lambda x: np.asarray(x).tolist(), each) for each in found]
    assert found == [expected] * several.num_replicas_in_sync


def test_local_results_of_a_structure_that_differs_from_replica_to_replica(several: Strategy, called: Called) -> None:
    result = called(lambda: several.run(lambda: {"a": replica_id() + 1, "b": replica_id() + 2}))()
    found = several.experimental_local_results(result)
    assert [{k: float(v) for k, v in each.items()} for each in found] == [
        {"a": i + 1.0, "b": i + 2.0} for i in range(several.num_replicas_in_sync)
    ]


def test_local_results_of_a_plain_value_are_that_value_alone(strategy: Strategy) -> None:
    assert strategy.experimental_local_results(3.0) == (3.0,)


def test_local_results_can_be_asked_for_inside_a_function(strategy: Strategy) -> None:
    @unisono.function
    def call(x: Any) -> Any:
        return strategy.experimental_local_results(strategy.run(lambda x: x * x, args=(x,)))

    assert [float(each) for each in call(2.0)] == [4.0] * strategy.num_replicas_in_sync


# Where the function finds itself


def test_inside_the_strategy_is_current_and_it_is_no_cross_replica_context(strategy: Strategy, called: Called) -> None:
    seen = []

    def look() -> None:
        context = unisono.get_replica_context()
        seen.append(
            (
                unisono.get_strategy() is strategy,
                unisono.has_strategy(),
                unisono.in_cross_replica_context(),
                context.strategy is strategy,
                context.num_replicas_in_sync,
            )
        )

    called(lambda: strategy.run(look))()
    assert set(seen) == {(True, True, False, True, strategy.num_replicas_in_sync)}
    assert not unisono.has_strategy()


def test_it_does_not_matter_whether_run_is_called_inside_of_the_scope(strategy: Strategy, called: Called) -> None:
    outside = called(lambda: strategy.run(replica_id))()
    with strategy.scope():
        inside = called(lambda: strategy.run(replica_id))()
        assert unisono.in_cross_replica_context()
    assert local(strategy, inside) == local(strategy, outside)


@pytest.mark.parametrize("method", ["run", "reduce", "scope"])
def test_what_belongs_into_the_cross_replica_context_is_refused_inside_of_run(
    strategy: Strategy, called: Called, method: str
) -> None:
    def step() -> Any:
        if method == "run":
            return strategy.run(lambda: jnp.ones(()))
        if method == "reduce":
            return strategy.reduce("SUM", jnp.ones(()), axis=None)
        with strategy.scope():
            return jnp.ones(())

    with pytest.raises(RuntimeError, match="inside a function"):
        called(lambda: strategy.run(step))()
    assert not unisono.has_strategy()


def test_several_strategies_alternate_in_one_process() -> None:
    def step(x: Any) -> Any:
        return unisono.get_replica_context().all_reduce("SUM", x)

    for _ in range(2):
        for number in (4, 1, 2):
            strategy = mirrored(number)
            assert local(strategy, strategy.run(step, args=(jnp.ones(()),))) == [number] * number


def test_strategies_over_different_devices_do_not_mix() -> None:
    first, second = mirrored(2), unisono.MirroredStrategy(["cpu:5", "cpu:4"])
    a, b = first.run(replica_id), second.run(replica_id)
    assert [value.devices() for value in b.values] == [{device} for device in second.placement.devices]
    assert local(first, a) == local(second, b) == [0.0, 1.0]


@pytest.mark.parametrize("devices", [["cpu:2", "cpu:3"], ["cpu:0", "cpu:1", "cpu:2"]], ids=["as-many", "more"])
@pytest.mark.parametrize("made", ["by-hand", "by-run"])
def test_values_of_another_strategy_are_refused(pair: Strategy, devices: list[str], made: str) -> None:
    other = unisono.MirroredStrategy(devices)
    value = per_replica(other, [np.float32([i]) for i in range(len(devices))])
    if made == "by-run":
        value = other.run(lambda x: x + 1, args=(value,))
    with pytest.raises(ValueError, match="another strategy"):
        pair.run(lambda x: x + 1, args=(value,))


# Errors


def test_an_exception_of_the_function_comes_out_and_the_context_is_left(strategy: Strategy, called: Called) -> None:
    def fails() -> None:
        raise ZeroDivisionError("of the user")

    with pytest.raises(ZeroDivisionError, match="of the user"):
        called(lambda: strategy.run(fails))()
    assert not unisono.has_strategy()
    assert unisono.get_replica_context().num_replicas_in_sync == 1
    assert local(strategy, strategy.run(replica_id)) == list(range(strategy.num_replicas_in_sync))


def test_what_a_function_assigned_before_it_failed_is_not_kept(several: Strategy, called: Called) -> None:
    """TensorFlow keeps it when eager and drops it in a function; a traced program never began."""
    with several.scope():
        v = keras.Variable(1.0, aggregation="mean", trainable=False)

    def fails() -> None:
        v.assign(2.0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        called(lambda: several.run(fails))()
    assert float(v.numpy()) == 1.0


# Functions inside and around


def test_a_function_that_is_run_is_traced_once_and_then_never_again(strategy: Strategy) -> None:
    """TensorFlow traces it once for each replica; here one program serves all."""
    traces = []

    @unisono.function
    def step() -> Any:
        traces.append(1)
        return replica_id()

    @unisono.function
    def whole() -> Any:
        return strategy.run(step)

    for _ in range(5):
        assert local(strategy, whole()) == list(range(strategy.num_replicas_in_sync))
    assert len(traces) == 1


def test_a_function_passed_to_run_eagerly_gives_each_replica_its_number(strategy: Strategy) -> None:
    @unisono.function
    def step() -> Any:
        return replica_id()

    for _ in range(2):
        assert local(strategy, strategy.run(step)) == list(range(strategy.num_replicas_in_sync))


def test_other_values_of_the_same_shapes_do_not_trace_again(several: Strategy) -> None:
    traces = []

    @unisono.function
    def call(x: Any) -> Any:
        traces.append(1)
        return x

    for factor in range(1, 6):
        given = per_replica(several, [np.float32(factor * i) for i in range(several.num_replicas_in_sync)])
        returned = call(given)
        assert isinstance(returned, PerReplica)
        assert local(several, returned) == local(several, given)
    assert len(traces) == 1


def test_functions_that_use_different_arguments_are_different_programs(pair: Strategy) -> None:
    x, y = np.float32([0, 1, 2, 3]), np.float32([100, 101, 102, 103])
    assert local(pair, pair.run(lambda x, y: keras.ops.sum(x), args=(x, y))) == [6.0, 6.0]
    assert local(pair, pair.run(lambda x, y: keras.ops.sum(y), args=(x, y))) == [406.0, 406.0]


def test_an_argument_and_a_variable_of_one_shape_are_different_programs(pair: Strategy) -> None:
    with pair.scope():
        first, second = keras.Variable(np.float32(1.0)), keras.Variable(np.float32(2.0))
    assert local(pair, pair.run(lambda: first + second)) == [3.0, 3.0]
    assert local(pair, pair.run(lambda x: first + x, args=(np.float32(5),))) == [6.0, 6.0]


def test_a_loop_of_python_inside_a_function_runs_each_time(strategy: Strategy) -> None:
    with strategy.scope():
        v = keras.Variable(0.0, aggregation="mean", trainable=False)

    @unisono.function
    def three_times() -> Any:
        for _ in range(3):
            strategy.run(lambda: v.assign_add(1.0))
        return v.value

    assert float(three_times()) == 3.0
    assert float(three_times()) == 6.0


def test_a_run_whose_result_is_not_used_still_happens(strategy: Strategy, called: Called) -> None:
    with strategy.scope():
        v = keras.Variable(0.0, aggregation="mean", trainable=False)

    def step() -> None:
        v.assign_add(1.0)

    @called
    def train() -> Any:
        strategy.run(step)
        return jnp.zeros(())

    train()
    assert float(v.numpy()) == 1.0


def test_variables_made_on_the_first_call_do_not_disturb_the_number_of_the_replica(strategy: Strategy) -> None:
    made = {}

    @unisono.function
    def inner() -> Any:
        return replica_id("int32")

    @unisono.function
    def outer() -> Any:
        if "v" not in made:
            made["v"] = keras.Variable(0.0)
        return strategy.run(inner)

    assert local(strategy, outer()) == list(range(strategy.num_replicas_in_sync))


def test_values_made_for_replicas_inside_a_function_can_be_run(strategy: Strategy) -> None:
    @unisono.function
    def call() -> Any:
        numbers = strategy.experimental_distribute_values_from_function(lambda own: own.replica_id_in_sync_group)
        return strategy.run(lambda x: x * x, args=(numbers,))

    assert local(strategy, call()) == [i * i for i in range(strategy.num_replicas_in_sync)]


def test_functions_that_run_eagerly_give_the_same(strategy: Strategy) -> None:
    @unisono.function
    def step(x: Any) -> Any:
        return x * x + replica_id()

    @unisono.function
    def whole(x: Any) -> Any:
        return strategy.run(step, args=(x,))

    traced = local(strategy, whole(3.0))
    unisono.run_functions_eagerly(True)
    try:
        assert unisono.functions_run_eagerly()
        assert local(strategy, whole(3.0)) == traced
    finally:
        unisono.run_functions_eagerly(False)


def test_a_function_with_a_signature_can_be_run(pair: Strategy) -> None:
    @unisono.function(input_signature=[TensorSpec((), "float32")])
    def step(x: Any) -> Any:
        return x + replica_id()

    assert local(pair, pair.run(step, args=(np.float32(1),))) == [1.0, 2.0]


# Values made for each replica

TUPLE = (1.0, 2.0, 3.0)


def test_one_value_for_all_becomes_a_value_for_each(strategy: Strategy) -> None:
    value = strategy.experimental_distribute_values_from_function(lambda context: np.float32([1, 2, 3]))
    assert local(strategy, value) == [[1.0, 2.0, 3.0]] * strategy.num_replicas_in_sync


def test_a_structure_keeps_its_form_with_a_value_for_each_replica_in_every_leaf(strategy: Strategy) -> None:
    value = strategy.experimental_distribute_values_from_function(
        lambda context: tuple(x * context.replica_id_in_sync_group for x in TUPLE)
    )
    assert isinstance(value, tuple)
    for x, leaf in zip(TUPLE, value, strict=True):
        assert local(strategy, leaf) == [x * i for i in range(strategy.num_replicas_in_sync)]


def test_the_context_of_a_value_knows_the_number_of_replicas(strategy: Strategy) -> None:
    value = strategy.experimental_distribute_values_from_function(lambda context: context.num_replicas_in_sync)
    assert local(strategy, value) == [strategy.num_replicas_in_sync] * strategy.num_replicas_in_sync


def test_a_model_is_called_with_what_one_replica_has(strategy: Strategy) -> None:
    with strategy.scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    rows = np.arange(24, dtype="float32").reshape(8, 3)
    dataset = strategy.experimental_distribute_dataset(unisono.data.Dataset.from_tensor_slices(rows).batch(8))
    parts = [model(x) for batch in dataset for x in strategy.experimental_local_results(batch)]
    np.testing.assert_allclose(np.concatenate(parts), model(rows), rtol=1e-5, atol=1e-5)


def test_a_step_that_is_defined_for_every_batch_of_a_host_loop_is_not_kept_for_every_batch(pair: Strategy) -> None:
    dataset = unisono.data.Dataset.range(12).map(lambda x: jnp.ones((2,)) * x)
    batches: list[weakref.ref[Any]] = []

    @unisono.function
    def loop() -> list[float]:
        totals = []
        for batch in dataset:
            batches.append(weakref.ref(batch))
            result = pair.run(lambda batch=batch: jnp.sum(batch))
            totals.append(float(pair.reduce("SUM", result, axis=None)))
        return totals

    with pytest.warns(UserWarning, match="was defined 9 times"):
        assert loop() == [4.0 * number for number in range(12)]
    gc.collect()
    assert [batch() for batch in batches] == [None] * 12


def test_steps_of_many_members_are_traced_once_each_in_a_host_loop(pair: Strategy) -> None:
    traced: list[int] = []

    class Member:
        def __init__(self, factor: int) -> None:
            self.factor = factor

        def step(self, x: Any) -> Any:
            traced.append(self.factor)
            return jnp.sum(x) * self.factor

    def step_of(factor: int) -> Any:
        def step(x: Any) -> Any:
            traced.append(factor)
            return jnp.sum(x) * factor

        return step

    steps = [*(Member(number).step for number in range(10)), *(step_of(number) for number in range(10, 16))]

    @unisono.function
    def loop() -> float:
        total = 0.0
        for batch in unisono.data.Dataset.range(3).map(lambda x: jnp.ones(2) * x):
            for step in steps:
                total += float(pair.reduce("SUM", pair.run(step, args=(batch,)), axis=None))
        return total

    assert loop() == 2 * 2 * 3 * sum(range(16))
    assert sorted(traced) == list(range(16))
