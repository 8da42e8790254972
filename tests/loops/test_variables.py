"""Variables of a strategy: one value or a value for each replica, and how replicas write to them."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.strategy import Strategy

from ._replicas import batches, copies, local, mirrored, per_replica, replica_id

pytestmark = pytest.mark.slow

Called = Callable[[Callable[..., Any]], Callable[..., Any]]

AGGREGATIONS = ["sum", "mean", "only_first_replica"]
KINDS = [(synchronization, aggregation) for synchronization in ("on_write", "on_read") for aggregation in AGGREGATIONS]


def variable(strategy: Strategy, initial: Any, aggregation: str, synchronization: str = "auto", **more: Any) -> Any:
    with strategy.scope():
        return keras.Variable(
            initial, aggregation=aggregation, synchronization=synchronization, **{"trainable": False, **more}
        )


def aggregated(aggregation: str, values: list[float]) -> float:
    if aggregation == "only_first_replica":
        return values[0]
    return sum(values) if aggregation == "sum" else sum(values) / len(values)


# What a variable is


@pytest.mark.parametrize(("synchronization", "aggregation"), KINDS)
def test_a_variable_is_a_keras_variable_that_remembers_how_it_was_made(
    strategy: Strategy, synchronization: str, aggregation: str
) -> None:
    v = variable(strategy, [1.0, 2.0], aggregation, synchronization, name="seen")
    assert isinstance(v, keras.Variable)
    assert (v.synchronization, v.aggregation, v.trainable) == (synchronization, aggregation, False)
    assert (v.name, v.dtype, tuple(v.shape)) == ("seen", "float32", (2,))
    assert len(v.values) == strategy.num_replicas_in_sync
    assert all(value.shape == (2,) and value.dtype == "float32" for value in v.values)


def test_each_copy_lives_on_its_device(strategy: Strategy) -> None:
    for synchronization in ("on_write", "on_read"):
        v = variable(strategy, 1.0, "mean", synchronization)
        assert [value.devices() for value in v.values] == [{device} for device in strategy.placement.devices]


def test_the_defaults_are_those_of_keras(pair: Strategy) -> None:
    with pair.scope():
        v = keras.Variable(1.0)
    assert (v.aggregation, v.synchronization, v.trainable) == ("none", "auto", True)


@pytest.mark.parametrize("argument", ["aggregation", "synchronization"])
def test_a_word_that_means_nothing_is_refused(pair: Strategy, argument: str) -> None:
    with pair.scope(), pytest.raises(ValueError, match=argument):
        keras.Variable(1.0, **{argument: "invalid"})


def test_no_synchronization_is_the_default_one(pair: Strategy) -> None:
    """TensorFlow refuses it."""
    v = variable(pair, 1.0, "sum", "none")
    pair.run(lambda: v.assign_add(replica_id() + 1))
    assert copies(v) == [4.0, 4.0]


def test_local_results_of_a_variable_are_the_values_of_its_copies(several: Strategy) -> None:
    """TensorFlow does so for its own variables; a Keras variable it takes for a plain value."""
    v = variable(several, 2.0, "mean")
    assert [float(each) for each in several.experimental_local_results(v)] == [2.0] * several.num_replicas_in_sync


def test_a_drawn_initial_value_is_the_same_in_every_copy(several: Strategy) -> None:
    for synchronization in ("on_write", "on_read"):
        v = variable(several, keras.initializers.RandomNormal(seed=1), "mean", synchronization, shape=(3,))
        assert copies(v) == [copies(v)[0]] * several.num_replicas_in_sync
        assert copies(v)[0] != [0.0, 0.0, 0.0]


def test_a_deep_copy_is_another_variable_of_the_same_kind(several: Strategy) -> None:
    for synchronization, aggregation in KINDS:
        v = variable(several, 3.0, aggregation, synchronization)
        several.run(lambda v=v: v.assign(replica_id()))
        w = copy.deepcopy(v)
        assert type(w) is type(v)
        assert (w.synchronization, w.aggregation) == (synchronization, aggregation)
        assert copies(w) == copies(v)
        w.assign(7.0)
        assert float(w.numpy()) == 7.0
        assert float(v.numpy()) == aggregated(aggregation, list(range(several.num_replicas_in_sync)))
        assert several.extended.variable_created_in_scope(w)


def test_the_strategy_knows_its_variables(pair: Strategy, four: Strategy) -> None:
    v, w = variable(pair, 1.0, "mean"), variable(four, 1.0, "mean")
    outside = keras.Variable(1.0)
    assert pair.extended.variable_created_in_scope(v)
    assert not pair.extended.variable_created_in_scope(w)
    assert not pair.extended.variable_created_in_scope(outside)
    assert pair.extended.value_container(v) is v
    with pair.scope(), pair.extended.colocate_vars_with(v):
        assert pair.extended.variable_created_in_scope(keras.Variable(2.0))


# Written by replicas: mirrored variables


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_what_replicas_write_is_aggregated_and_every_copy_gets_it(
    strategy: Strategy, called: Called, aggregation: str
) -> None:
    """Replica i writes i + 1 to variables of 5, which keep their value under assign_add and assign_sub."""
    set_to, added, subtracted = (variable(strategy, 5.0, aggregation) for _ in range(3))

    def step() -> Any:
        set_to.assign(replica_id() + 1)
        added.assign_add(replica_id() + 1)
        subtracted.assign_sub(replica_id() + 1)
        return set_to.value, added.value, subtracted.value

    number = strategy.num_replicas_in_sync
    written = aggregated(aggregation, [i + 1.0 for i in range(number)])
    results = called(lambda: strategy.run(step))()
    expected = [written, 5.0 + written, 5.0 - written]
    for v, result, value in zip((set_to, added, subtracted), results, expected, strict=True):
        assert local(strategy, result) == [value] * number, "read in the same step"
        assert copies(v) == [value] * number
        assert float(v.numpy()) == value


@pytest.mark.parametrize(("aggregation", "expected"), [("sum", 10.0), ("mean", 5.0), ("only_first_replica", 5.0)])
def test_a_constant_counts_once_for_each_replica(
    pair: Strategy, called: Called, aggregation: str, expected: float
) -> None:
    v = variable(pair, 1.0, aggregation)
    called(lambda: pair.run(lambda: v.assign(5.0)))()
    assert copies(v) == [expected, expected]


def test_a_variable_can_be_assigned_to_another(several: Strategy, called: Called) -> None:
    source = variable(several, 2.0, "mean")
    number = several.num_replicas_in_sync
    for aggregation, expected in [("mean", 2.0), ("only_first_replica", 2.0), ("sum", 2.0 * number)]:
        v = variable(several, 0.0, aggregation)
        called(lambda v=v: several.run(lambda: v.assign(source)))()
        assert copies(v) == [expected] * number
        with several.scope():
            v.assign(source)
        assert copies(v) == [2.0] * number


def test_without_an_aggregation_trainable_variables_cannot_be_written_by_replicas(several: Strategy) -> None:
    """TensorFlow writes to each copy what its replica has, and the copies differ from then on."""
    v = variable(several, 1.0, "none", trainable=True)
    with pytest.raises(ValueError, match="aggregation"):
        several.run(lambda: v.assign(replica_id()))
    assert copies(v) == [1.0] * several.num_replicas_in_sync
    (uneven,) = batches(several, np.ones(several.num_replicas_in_sync + 1, np.float32), 8)
    with pytest.raises(ValueError, match="aggregation"):
        several.run(lambda x: v.assign(keras.ops.sum(x)), args=(uneven,))
    assert copies(v) == [1.0] * several.num_replicas_in_sync


def test_without_an_aggregation_statistics_take_the_mean_and_counters_the_first(
    several: Strategy, called: Called
) -> None:
    statistic = variable(several, 1.0, "none")
    counter = variable(several, 1, "none", dtype="int32")

    def step() -> None:
        statistic.assign(replica_id())
        counter.assign_add(replica_id("int32") + 1)

    called(lambda: several.run(step))()
    number = several.num_replicas_in_sync
    assert copies(statistic) == [(number - 1) / 2] * number
    assert copies(counter) == [2] * number


def test_integers_are_summed_as_integers(several: Strategy, called: Called) -> None:
    v = variable(several, 1, "sum", dtype="int32")
    called(lambda: several.run(lambda: v.assign(replica_id("int32") + 1)))()
    number = several.num_replicas_in_sync
    assert copies(v) == [sum(range(1, number + 1))] * number
    assert v.dtype == "int32"


def test_a_counter_of_steps_goes_up_by_one(strategy: Strategy, called: Called) -> None:
    steps = variable(strategy, 0, "only_first_replica", dtype="int32")

    def step() -> Any:
        steps.assign_add(1)
        return steps.value

    result = called(lambda: strategy.run(step))()
    assert local(strategy, result) == [1] * strategy.num_replicas_in_sync


def test_a_value_of_another_type_is_converted(several: Strategy, called: Called) -> None:
    for synchronization in ("on_write", "on_read"):
        v = variable(several, 0.0, "mean", synchronization)
        called(lambda v=v: several.run(lambda: v.assign(1)))()
        called(lambda v=v: several.run(lambda: v.assign_add(jnp.asarray(1, "int32"))))()
        assert copies(v) == [2.0] * several.num_replicas_in_sync
        assert v.dtype == "float32"


def test_a_value_of_another_shape_is_refused(several: Strategy) -> None:
    v = variable(several, [1.0, 2.0], "mean")
    with pytest.raises(ValueError, match="shape"):
        several.run(lambda: v.assign(jnp.ones(3)))


# Written across replicas


@pytest.mark.parametrize("inside", [True, False], ids=["in-scope", "out-of-scope"])
@pytest.mark.parametrize(("synchronization", "aggregation"), [*KINDS, ("auto", "none")])
def test_what_is_assigned_across_replicas_is_read_back(
    strategy: Strategy, synchronization: str, aggregation: str, inside: bool
) -> None:
    v = variable(strategy, 0.0, aggregation, synchronization)

    def write() -> None:
        v.assign(6.0)
        assert float(v.numpy()) == 6.0
        v.assign_add(2.0)
        assert float(v.numpy()) == 8.0
        v.assign_sub(1.0)

    if inside:
        with strategy.scope():
            write()
    else:
        write()
    assert float(v.numpy()) == float(v.value) == float(keras.ops.convert_to_numpy(v)) == 7.0
    if synchronization != "on_read":
        assert copies(v) == [7.0] * strategy.num_replicas_in_sync


def test_a_function_writes_across_replicas_too(strategy: Strategy) -> None:
    mirrors = variable(strategy, 1.0, "none", trainable=True)
    on_read = variable(strategy, 0.0, "sum", "on_read")

    @unisono.function
    def write(x: Any) -> Any:
        mirrors.assign(x)
        on_read.assign(x)
        return mirrors + 1, on_read + 1

    assert [float(x) for x in write(np.float32(3))] == [4.0, 4.0]
    assert copies(mirrors) == [3.0] * strategy.num_replicas_in_sync
    assert float(on_read.numpy()) == 3.0


@pytest.mark.parametrize(("aggregation", "expected"), [("sum", None), ("mean", 6.0), ("only_first_replica", 6.0)])
def test_per_replica_values_of_what_was_assigned_aggregate_to_it(
    several: Strategy, aggregation: str, expected: float | None
) -> None:
    """TensorFlow divides a sum evenly among the replicas, and 1 / 3 three times is not 1; here it is exact."""
    v = variable(several, 0.0, aggregation, "on_read")
    v.assign(6.0)
    if expected is None:
        assert copies(v) == [6.0] + [0.0] * (several.num_replicas_in_sync - 1)
    else:
        assert copies(v) == [expected] * several.num_replicas_in_sync


# Read on demand


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_a_part_belongs_to_its_replica_and_is_aggregated_when_read_outside(
    strategy: Strategy, called: Called, aggregation: str
) -> None:
    v = variable(strategy, 0.0, aggregation, "on_read")

    def step() -> Any:
        v.assign(10.0)
        v.assign_add(replica_id())
        v.assign_sub(10.0)
        return v.value

    number = strategy.num_replicas_in_sync
    result = called(lambda: strategy.run(step))()
    assert local(strategy, result) == copies(v) == list(range(number))
    expected = aggregated(aggregation, list(range(number)))
    assert float(v.numpy()) == float(v.value) == float(v + 0) == expected
    assert float(unisono.function(lambda: v.value)()) == expected
    assert local(strategy, strategy.run(lambda: v.value)) == list(range(number))


def test_the_first_replica_decides_at_reading_or_at_writing(several: Strategy, called: Called) -> None:
    on_read = variable(several, 2.0, "only_first_replica", "on_read")
    on_write = variable(several, 3.0, "only_first_replica", "on_write")

    def step() -> None:
        on_read.assign_add(5 * (replica_id() + 1))
        on_write.assign_add(7 * (replica_id() + 1))

    number = several.num_replicas_in_sync
    for done in (1, 2):
        called(lambda: several.run(step))()
        assert copies(on_read) == [2.0 + 5 * done * (i + 1) for i in range(number)]
        assert float(on_read.numpy()) == 2.0 + 5 * done
        assert copies(on_write) == [3.0 + 7 * done] * number


def test_the_initial_value_is_that_of_the_whole(several: Strategy, called: Called) -> None:
    """With TensorFlow every replica's value starts with it, and a sum is N times as much."""
    number = several.num_replicas_in_sync
    v, w = variable(several, 1.0, "sum", "on_read"), variable(several, 4.0, "mean", "on_read")
    assert (float(v.numpy()), float(w.numpy())) == (1.0, 4.0)
    assert copies(w) == [4.0] * number

    def step() -> None:
        v.assign_add(2 + replica_id())
        w.assign(6 * replica_id())

    called(lambda: several.run(step))()
    assert copies(v) == [3.0] + [2.0 + i for i in range(1, number)]
    assert copies(w) == [6.0 * i for i in range(number)]
    assert float(v.numpy()) == 1.0 + sum(2.0 + i for i in range(number))
    assert float(w.numpy()) == sum(6.0 * i for i in range(number)) / number


def test_without_an_aggregation_parts_can_be_read_inside_only(several: Strategy) -> None:
    v = variable(several, 0.0, "none", "on_read")
    several.run(lambda: v.assign(replica_id() + 1))
    number = several.num_replicas_in_sync
    assert copies(v) == local(several, several.run(lambda: v.value)) == [i + 1.0 for i in range(number)]
    with pytest.raises(ValueError, match="aggregation"):
        v.numpy()


# Operators

OPERATORS: list[tuple[Callable[..., Any], float]] = [
    (lambda v: v + 1, 8),
    (lambda v: 3 + v, 10),
    (lambda v: v + v, 14),
    (lambda v: v - 2, 5),
    (lambda v: 13 - v, 6),
    (lambda v: v * 2, 14),
    (lambda v: 3 * v, 21),
    (lambda v: v / 2, 3.5),
    (lambda v: 10.5 / v, 1.5),
    (lambda v: v // 2, 3),
    (lambda v: 15 // v, 2),
    (lambda v: v % 2, 1),
    (lambda v: 16 % v, 2),
    (lambda v: v**2, 49),
    (lambda v: 2**v, 128),
    (lambda v: v < 12, True),
    (lambda v: v <= 12, True),
    (lambda v: v > 12, False),
    (lambda v: v >= 12, False),
    (lambda v: v == 7, True),
    (lambda v: v != 7, False),
    (operator.neg, -7),
    (abs, 7),
]


def test_operators_see_the_value_outside_and_inside(pair: Strategy) -> None:
    v = variable(pair, 7.0, "mean")
    expected = [float(value) for _, value in OPERATORS]

    def compute() -> Any:
        return jnp.stack([jnp.asarray(operation(v), "float32") for operation, _ in OPERATORS])

    np.testing.assert_allclose(compute(), expected, rtol=1e-6)
    for each in local(pair, pair.run(compute)):
        np.testing.assert_allclose(each, expected, rtol=1e-6)


def test_parts_are_added_to_where_they_are_and_the_whole_outside(several: Strategy) -> None:
    v = variable(several, 0.0, "mean", "on_read")
    several.run(lambda: v.assign(replica_id()))
    number = several.num_replicas_in_sync
    assert float(v + 1) == (number - 1) / 2 + 1
    assert local(several, several.run(lambda: v + 1)) == [i + 1.0 for i in range(number)]


# Made on the first call


def test_a_variable_made_on_the_first_call_is_made_once_with_a_copy_for_each_replica(several: Strategy) -> None:
    for synchronization in ("on_write", "on_read"):
        made: list[Any] = []

        def step(made: list[Any] = made, synchronization: str = synchronization) -> Any:
            if not made:
                made.append(
                    keras.Variable(
                        keras.initializers.RandomNormal(seed=2),
                        shape=(),
                        trainable=False,
                        aggregation="mean",
                        synchronization=synchronization,
                    )
                )
            return made[0].value

        call = unisono.function(lambda step=step: several.run(step))
        first, second = local(several, call()), local(several, call())
        (v,) = made
        assert first == second == copies(v) == [copies(v)[0]] * several.num_replicas_in_sync
        assert several.extended.variable_created_in_scope(v)


def test_a_variable_made_from_another_ones_value_on_the_first_call(several: Strategy) -> None:
    made: dict[str, Any] = {}

    @unisono.function
    def step() -> Any:
        if not made:
            made["w"] = keras.Variable(1.0, aggregation="mean", trainable=False)
            made["v"] = keras.Variable(keras.initializers.Constant(1.0), shape=(), aggregation="mean", trainable=False)
        made["v"].assign_add(made["w"] + 1)
        return made["v"].value

    assert local(several, several.run(step)) == [3.0] * several.num_replicas_in_sync
    assert local(several, several.run(step)) == [5.0] * several.num_replicas_in_sync


# extended.update


@pytest.mark.parametrize("group", [True, False])
def test_update_changes_every_copy_of_a_mirrored_variable(strategy: Strategy, called: Called, group: bool) -> None:
    v = variable(strategy, 5.0, "none", trainable=True)

    @called
    def update() -> None:
        with strategy.scope():
            for fn in (lambda v, x: v.assign(x), lambda v, x: v.assign_add(x), lambda v, x: v.assign_sub(x / 2)):
                strategy.extended.update(v, fn, args=(2.0,), group=group)

    update()
    assert copies(v) == [3.0] * strategy.num_replicas_in_sync


def test_update_gives_each_part_of_a_variable_read_on_demand_its_own_value(several: Strategy) -> None:
    v = variable(several, 0.0, "mean", "on_read")
    number = several.num_replicas_in_sync
    values = per_replica(several, [np.float32(i + 1) for i in range(number)])
    with several.scope():
        several.extended.update(v, lambda v, x: v.assign(x), args=(values,))
        assert copies(v) == [i + 1.0 for i in range(number)]
        several.extended.update(v, lambda v, x: v.assign_add(x), kwargs={"x": values})
        assert copies(v) == [2 * (i + 1.0) for i in range(number)]
        several.extended.update(v, lambda v: v.assign_add(v.value), group=False)
        assert copies(v) == [4 * (i + 1.0) for i in range(number)]


# Kept in files


class Counts(keras.layers.Layer):
    """A layer with a weight of the given kind."""

    def __init__(self, synchronization: str, aggregation: str) -> None:
        super().__init__()
        self.count = keras.Variable(
            0.0, trainable=False, synchronization=synchronization, aggregation=aggregation, name="count"
        )

    def call(self, x: Any) -> Any:
        return x


def counting(number: int | None, synchronization: str, aggregation: str) -> keras.Model:
    def make() -> keras.Model:
        return keras.Sequential([keras.Input((1,)), Counts(synchronization, aggregation)])

    if number is None:
        return make()
    with mirrored(number).scope():
        return make()


@pytest.mark.parametrize(("synchronization", "aggregation"), [*KINDS, ("auto", "none")])
@pytest.mark.parametrize("restored_on", [None, 2, 4])
def test_a_file_holds_the_whole_and_any_number_of_replicas_restores_it(
    tmp_path: Path, synchronization: str, aggregation: str, restored_on: int | None
) -> None:
    """Replica i has 3 + i: the aggregated value is 7, 3.5 or 3, with whatever aggregation."""
    model = counting(2, synchronization, aggregation)
    v = model.layers[0].count
    mirrored(2).run(lambda: v.assign(3 + replica_id()))
    expected = {"sum": 7.0, "mean": 3.5, "only_first_replica": 3.0, "none": 3.5}[aggregation]
    assert float(v.numpy()) == expected
    model.save_weights(tmp_path / "of.weights.h5")
    v.assign(9.0)
    other = counting(restored_on, synchronization, aggregation)
    other.load_weights(tmp_path / "of.weights.h5")
    assert float(other.layers[0].count.numpy()) == expected
    model.load_weights(tmp_path / "of.weights.h5")
    assert float(v.numpy()) == expected


@pytest.mark.parametrize(("synchronization", "aggregation"), KINDS)
def test_a_file_written_without_a_strategy_is_restored_by_one(
    tmp_path: Path, synchronization: str, aggregation: str
) -> None:
    plain = counting(None, synchronization, aggregation)
    plain.layers[0].count.assign(3.5)
    plain.save_weights(tmp_path / "of.weights.h5")
    model = counting(4, synchronization, aggregation)
    model.load_weights(tmp_path / "of.weights.h5")
    v = model.layers[0].count
    assert float(v.numpy()) == 3.5
    mirrored(4).run(lambda: v.assign_add(1.0))
    assert float(v.numpy()) == (7.5 if aggregation == "sum" else 4.5)


# Variables without a strategy


def test_a_variable_made_outside_of_every_scope_can_be_read_inside(several: Strategy, called: Called) -> None:
    v = keras.Variable(4.0)
    result = called(lambda: several.run(lambda: v + 1.0))()
    assert local(several, result) == [5.0] * several.num_replicas_in_sync
    assert isinstance(v.value, jax.Array)


def test_a_variable_made_outside_of_every_scope_cannot_be_written_inside(several: Strategy, called: Called) -> None:
    """TensorFlow lets the replicas write one after the other. With one replica there is nothing to it."""
    v, metric = keras.Variable(4.0, aggregation="sum"), keras.metrics.Mean()
    for step in (lambda: v.assign_add(1.0), lambda: metric.update_state(1.0)):
        with pytest.raises(ValueError, match="scope"):
            called(lambda step=step: several.run(step))()
    mirrored(1).run(lambda: v.assign_add(1.0))
    assert (float(v.numpy()), float(metric.count.numpy())) == (5.0, 0.0)


def test_the_values_of_the_replicas_survive_the_next_step(pair: Strategy) -> None:
    with pair.scope():
        variable = keras.Variable(1.0)
    step = unisono.function(lambda: variable.assign_add(1.0))
    step()
    before = [*variable.values, *pair.experimental_local_results(variable)]
    step()
    assert [float(each) for each in before] == [2.0] * 4
