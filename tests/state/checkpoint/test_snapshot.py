"""Copies of all that decides the future, and putting them back."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono._src.state.checkpoint import Snapshot, apply_snapshot, take_snapshot
from unisono.checkpoint import Checkpoint, CheckpointMismatch
from unisono.data import Dataset

pytestmark = pytest.mark.slow

Pair = namedtuple("Pair", ["a", "b"])


class Counter:
    """An object of a user's, with a state."""

    def __init__(self, state: Any = 0) -> None:
        self.state = state

    def get_state(self) -> Any:
        return self.state

    def set_state(self, state: Any) -> None:
        self.state = state


def dense(units: int = 2, **options: Any) -> keras.Model:
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(units, **options)])


def test_variables_come_back_to_the_bit() -> None:
    model, other = dense(), dense()
    taken = take_snapshot({"model": model})
    apply_snapshot({"model": other}, taken).assert_consumed()
    for one, two in zip(model.variables, other.variables, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_snapshot_is_not_changed_by_training() -> None:
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        model = dense()
        model.compile("sgd", "mse")
    taken = take_snapshot({"model": model})
    before = {name: array.copy() for name, array in taken.arrays.items()}
    model.fit(np.ones((8, 3)), np.zeros((8, 2)), batch_size=2, verbose=0)
    assert all(np.array_equal(before[name], array) for name, array in taken.arrays.items())
    assert not np.array_equal(taken.arrays["model/dense/kernel"], model.layers[0].kernel)


def test_what_is_restored_is_not_changed_through_the_snapshot() -> None:
    variable = keras.Variable(np.zeros(1000, "float32"))
    taken = take_snapshot({"x": variable})
    apply_snapshot({"x": variable}, taken)
    taken.arrays["x"][:] = 1
    assert np.all(np.asarray(variable) == 0)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "uint32", "bool", "float8_e4m3fn"])
def test_dtypes_are_kept(dtype: str) -> None:
    variable = keras.Variable(np.ones((2, 3)), dtype=dtype)
    taken = take_snapshot({"x": variable})
    assert taken.arrays["x"].dtype.name == str(variable.value.dtype)
    variable.assign(np.zeros((2, 3)))
    apply_snapshot({"x": variable}, taken).assert_consumed()
    assert np.all(np.asarray(variable.value).astype("float32") == 1)
    assert str(variable.value.dtype) == taken.arrays["x"].dtype.name


def test_another_shape_is_an_error_that_names_both() -> None:
    taken = take_snapshot({"model": dense(2)})
    model = dense(5)
    before = np.array(model.layers[0].kernel.value)
    with pytest.raises(CheckpointMismatch, match=r"model/dense/kernel has the shape \(3, 5\) here and \(3, 2\) in the"):
        apply_snapshot({"model": model}, taken, strict=False)
    np.testing.assert_array_equal(before, model.layers[0].kernel)


def test_another_dtype_is_an_error() -> None:
    taken = take_snapshot({"model": dense(2)})
    with pytest.raises(CheckpointMismatch, match=r"model/dense/kernel is bfloat16 here, float32 in the checkpoint"):
        apply_snapshot({"model": dense(2, dtype="bfloat16")}, taken)


def test_a_variable_without_a_value_is_an_error_that_lists_it_and_nothing_is_changed() -> None:
    taken = take_snapshot({"model": dense(), "a": Counter(5)})
    model, state = dense(), Counter()
    before = np.array(model.layers[0].kernel.value)
    with pytest.raises(CheckpointMismatch, match=r"without a value in it: more\n.*strict=False"):
        apply_snapshot({"model": model, "a": state, "more": keras.Variable(1.0)}, taken)
    assert state.state == 0
    np.testing.assert_array_equal(before, model.layers[0].kernel)
    apply_snapshot({"model": model, "a": state, "more": keras.Variable(1.0)}, taken, strict=False)
    assert state.state == 5


def test_a_value_without_a_variable_is_an_error_if_strict() -> None:
    taken = take_snapshot({"model": dense(), "a": Counter(5), "step": 3, "x": np.ones(2)})
    with pytest.raises(CheckpointMismatch, match=r"values without an object: a, step, x\n"):
        apply_snapshot({"model": dense()}, taken, strict=True)
    apply_snapshot({"model": dense()}, taken, strict=False)


def test_values_are_replaced_and_containers_stay_the_same_objects() -> None:
    def objects() -> dict[str, Any]:
        return {
            "int": 0,
            "float": 0.0,
            "text": "",
            "flag": False,
            "nothing": 1,
            "numpy": np.zeros(3),
            "scalar": np.float32(0),
            "jax": jnp.zeros(2),
            "list": [],
            "dict": {"a": 0},
            "tuple": (0, 0),
            "pair": Pair(0, 0),
            "mixed": {"counter": Counter(), "number": 0, "inner": [Counter(), 0]},
        }

    full = objects()
    full.update(int=1 << 80, float=float("nan"), text="ü", flag=True, nothing=None)
    full.update(numpy=np.arange(3.0), scalar=np.float32(0.1), jax=jnp.arange(2.0), list=[1, [2.5, None]])
    full.update(dict={"b": {"c": (1, 2)}}, tuple=(1, np.int64(2)), pair=Pair(3, [4]))
    full.update(mixed={"counter": Counter(8), "number": 9, "inner": [Counter([1, {"x": 2}]), 10]})
    taken = take_snapshot(full)
    new = objects()
    containers = {name: new[name] for name in ("numpy", "list", "dict", "mixed")}
    apply_snapshot(new, taken, strict=True).assert_consumed()

    assert (new["int"], new["text"], new["flag"], new["nothing"]) == (1 << 80, "ü", True, None)
    assert np.isnan(new["float"])
    np.testing.assert_array_equal(new["numpy"], [0, 1, 2])
    assert new["scalar"] == np.float32(0.1)
    assert isinstance(new["scalar"], np.float32)
    np.testing.assert_array_equal(new["jax"], [0, 1])
    assert new["list"] == [1, [2.5, None]]
    assert new["dict"] == {"b": {"c": (1, 2)}}
    assert new["tuple"] == (1, 2)
    assert new["pair"] == Pair(3, [4])
    assert isinstance(new["pair"], Pair)
    assert new["mixed"]["counter"].state == 8
    assert new["mixed"]["number"] == 9
    assert (new["mixed"]["inner"][0].state, new["mixed"]["inner"][1]) == ([1, {"x": 2}], 10)
    assert all(new[name] is thing for name, thing in containers.items())


def test_objects_in_a_tuple_are_restored_in_place_and_numbers_replaced() -> None:
    counter = Counter()
    objects: dict[str, Any] = {"both": (counter, 0)}
    apply_snapshot(objects, take_snapshot({"both": (Counter(3), 4)}))
    assert objects["both"] == (counter, 4)
    assert counter.state == 3


def test_a_number_that_has_become_an_object_is_no_match() -> None:
    taken = take_snapshot({"step": 3})
    with pytest.raises(CheckpointMismatch, match="without a value in it: step"):
        apply_snapshot({"step": Counter()}, taken)
    with pytest.raises(CheckpointMismatch, match="without a value in it: step"):
        apply_snapshot({"step": 0}, take_snapshot({"step": Counter()}))


def test_an_object_that_holds_variables_and_a_state_has_both() -> None:
    class Counting(keras.Layer):
        def __init__(self, calls: int) -> None:
            super().__init__()
            self.calls = calls
            self.total = self.add_weight(name="total", shape=(), initializer="ones")

        def get_state(self) -> Any:
            return self.calls

        def set_state(self, state: Any) -> None:
            self.calls = state

    taken = take_snapshot({"layer": Counting(5)})
    new = Counting(0)
    new.total.assign(0)
    apply_snapshot({"layer": new}, taken, strict=True)
    assert (new.calls, float(new.total.value)) == (5, 1.0)


def test_iterators_resume_where_they_were() -> None:
    def iterator() -> Any:
        return iter(Dataset.range(100).shuffle(100, seed=3).batch(7).repeat())

    one = iterator()
    [next(one) for _ in range(20)]
    taken = take_snapshot({"data": one})
    expected = [next(one).tolist() for _ in range(5)]
    other = iterator()
    apply_snapshot({"data": other}, taken).assert_consumed()
    assert [next(other).tolist() for _ in range(5)] == expected


def test_a_state_that_is_no_json_is_named() -> None:
    with pytest.raises(TypeError, match=r"(?s)'data/it'.*\['seen'\] there is int64.*int\(x\)"):
        take_snapshot({"data": {"it": Counter({"seen": np.int64(3)})}})
    with pytest.raises(TypeError, match="dicts with strings as keys"):
        take_snapshot({"it": Counter({1: 2})})


def test_a_state_is_a_copy() -> None:
    counter = Counter({"seen": [1]})
    taken = take_snapshot({"it": counter})
    counter.state["seen"].append(2)
    apply_snapshot({"it": counter}, taken)
    assert counter.state == {"seen": [1]}


@pytest.mark.parametrize("thing", [object(), b"bytes", {1, 2}, lambda: 1, Counter, Dataset.range(3)])
def test_what_cannot_be_stored_is_refused_by_name(thing: Any) -> None:
    with pytest.raises(TypeError, match=r"(?s)'config/thing' is a .*get_state\(\)"):
        take_snapshot({"config": {"thing": thing}})


def test_keys_that_are_no_strings_are_refused() -> None:
    with pytest.raises(TypeError, match=r"'table' has the key 3, a int.*write '3'"):
        take_snapshot({"table": {3: 1}})


def test_what_contains_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself"):
        take_snapshot({"endless": endless})


def test_a_model_without_variables_is_refused_and_says_how_to_build_it() -> None:
    taken = take_snapshot({"model": dense()})
    for act in (take_snapshot, lambda objects: apply_snapshot(objects, taken)):
        with pytest.raises(ValueError, match=r"'model' has no variables yet.*\n.*model.build"):
            act({"model": keras.Sequential([keras.layers.Dense(2)])})


def test_a_model_that_is_built_in_part_is_refused() -> None:
    class Half(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.scale = self.add_weight(name="scale", shape=())
            self.inner = keras.layers.Dense(2)

        def call(self, x: Any) -> Any:
            return self.inner(x) * self.scale

    whole, half = Half(), Half()
    whole(np.ones((1, 3)))
    taken = take_snapshot({"model": whole})
    with pytest.raises(ValueError, match="Build it first"):
        apply_snapshot({"model": half}, taken)


def test_metrics_of_several_replicas_are_stored_aggregated() -> None:
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        metric, other = keras.metrics.Mean(), keras.metrics.Mean()

    @unisono.function
    def update(each: keras.metrics.Metric, values: Any) -> None:
        strategy.run(each.update_state, args=(values,))

    batches = strategy.experimental_distribute_dataset(Dataset.from_tensor_slices(np.arange(8.0)).batch(4))
    one, two = list(batches)
    update(metric, one)
    taken = take_snapshot({"metric": metric})
    assert (taken.arrays["metric/total"], taken.arrays["metric/count"]) == (6, 4)
    apply_snapshot({"metric": other}, taken).assert_consumed()
    update(metric, two)
    update(other, two)
    assert float(other.result()) == float(metric.result()) == 3.5


def test_metrics_resume_bit_for_bit_and_on_another_number_of_replicas_by_their_aggregated_value() -> None:
    def metric_on(number: int) -> tuple[Any, Any]:
        strategy = unisono.MirroredStrategy([f"cpu:{index}" for index in range(number)])
        with strategy.scope():
            metric = keras.metrics.Mean()

        @unisono.function
        def update(values: Any) -> None:
            strategy.run(metric.update_state, args=(values,))

        def add(values: Any) -> None:
            dataset = Dataset.from_tensor_slices(values.astype("float32")).batch(4)
            for batch in strategy.experimental_distribute_dataset(dataset):
                update(batch)

        return metric, add

    values = np.random.default_rng(1).normal(size=400)
    one, add_to_one = metric_on(2)
    same, add_to_same = metric_on(2)
    more, add_to_more = metric_on(4)
    add_to_one(values[:200])
    taken = take_snapshot({"metric": one})
    np.testing.assert_allclose(taken.arrays["metric/total@replicas"].sum(0), taken.arrays["metric/total"], rtol=1e-6)
    apply_snapshot({"metric": same}, taken, strict=True).assert_consumed()
    apply_snapshot({"metric": more}, taken, strict=True).assert_consumed()
    for add in (add_to_one, add_to_same, add_to_more):
        add(values[200:])
    assert float(same.total.value) == float(one.total.value)
    np.testing.assert_allclose(more.total.value, one.total.value, rtol=1e-5)


def test_variables_stay_on_the_devices_of_their_strategy() -> None:
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        model = dense()
    apply_snapshot({"model": model}, take_snapshot({"model": dense()}))
    assert len(model.layers[0].kernel.value.sharding.device_set) == 2


def test_nothing_is_saved_or_restored_on_a_replica() -> None:
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        variable = keras.Variable(1.0)
    with pytest.raises(RuntimeError, match="outside `run`"):
        strategy.run(lambda: take_snapshot({"x": variable}))


def test_a_function_that_saves_runs_as_a_python_loop_on_the_host() -> None:
    variable = keras.Variable(1.0)
    seen: list[Snapshot] = []

    @unisono.function
    def step() -> None:
        variable.assign_add(1.0)

    @unisono.function
    def loop() -> None:
        for _ in range(3):
            step()
            seen.append(take_snapshot({"x": variable}))

    loop()
    assert [float(taken.arrays["x"]) for taken in seen[-3:]] == [2.0, 3.0, 4.0]


def test_a_checkpoint_inside_a_checkpoint_is_part_of_its_names() -> None:
    inner = Checkpoint(x=keras.Variable(1.0), epoch=3)
    taken = take_snapshot({"inner": inner})
    assert list(taken.arrays) == ["inner/x"]
    new = Checkpoint(x=keras.Variable(0.0), epoch=0)
    apply_snapshot({"inner": new}, taken).assert_consumed()
    assert (float(new.x.value), new.epoch) == (1.0, 3)
