"""`unisono.function`: what is traced when, which variables it finds, and what it keeps."""

import copy
import gc
import warnings
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

import unisono
from unisono.data import Dataset, TensorSpec


def counting(function):
    """The function, compiled, and the list of what it was traced with."""
    traces = []

    def noted(*args, **kwargs):
        traces.append((args, kwargs))
        return function(*args, **kwargs)

    return unisono.function(noted), traces


def test_a_variable_that_is_read_and_written_keeps_its_value_between_calls():
    total = keras.Variable(1.0)

    @unisono.function
    def add(x):
        total.assign_add(x)
        return total * 10

    assert [float(add(np.float32(x))) for x in (1, 2)] == [20.0, 40.0]
    assert float(total) == 4.0


def test_a_variable_changed_from_outside_is_seen_by_the_program():
    rate = keras.Variable(1.0)
    double = unisono.function(lambda: rate * 2)
    assert float(double()) == 2.0
    rate.assign(5.0)
    assert float(double()) == 10.0


def test_a_variable_may_be_made_on_the_first_call():
    made = []

    @unisono.function
    def count():
        if not made:
            made.append(keras.Variable(0.0))
        made[0].assign_add(1.0)
        return made[0].value

    assert [float(count()) for _ in range(3)] == [1.0, 2.0, 3.0]


def test_layers_and_optimizers_may_be_built_on_the_first_call():
    model, optimizer = keras.Sequential([keras.layers.Dense(2)]), keras.optimizers.Adam()
    keras.utils.set_random_seed(0)

    @unisono.function
    def step(x):
        with unisono.GradientTape() as tape:
            loss = keras.ops.mean(model(x) ** 2)
        optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
        return loss

    losses = [float(step(np.ones((4, 3), "float32"))) for _ in range(3)]
    assert losses[0] > losses[1] > losses[2]
    assert int(optimizer.iterations) == 3


def test_a_variable_made_on_every_call_is_an_error():
    @unisono.function
    def wrong(x):
        return keras.Variable(1.0) + x

    with pytest.raises(ValueError, match="makes variables whenever it is called"):
        wrong(np.float32(1))


def test_python_runs_once_for_every_shape_dtype_and_structure():
    function, traces = counting(lambda x: x)
    for x in (np.zeros(2, "float32"), np.ones(2, "float32"), jnp.ones(2)):
        function(x)
    assert len(traces) == 1
    for x in (np.zeros(3, "float32"), np.zeros(2, "int32"), [np.zeros(2, "float32")], {"a": np.zeros(2, "float32")}):
        function(x)
        function(x)
    assert len(traces) == 5
    assert function.experimental_get_tracing_count() == 5


def test_python_values_are_part_of_the_program():
    function, traces = counting(lambda x, times: x * times if times > 1 else x)
    one = np.float32(1)
    assert [float(function(one, times)) for times in (1, 2, 2, 3)] == [1.0, 2.0, 2.0, 3.0]
    assert len(traces) == 3
    function(one, True)
    function(one, 1.0)
    assert len(traces) == 5  # True, 1 and 1.0 are equal, and not the same


def test_arguments_by_name_and_by_place_are_the_same_call():
    traces = []
    function = unisono.function(lambda x, y: traces.append(1) or x - y)
    one, two = np.float32(1), np.float32(2)
    assert float(function(one, two)) == float(function(one, y=two)) == float(function(y=two, x=one)) == -1.0
    assert len(traces) == 1


def test_the_tenth_trace_warns_and_says_what_was_new():
    function = unisono.function(lambda x, rate: x * rate)
    for number in range(9):
        function(np.float32(1), 0.1 * number)
    with pytest.warns(UserWarning, match=r"traced for the 10th time(.|\n)*argument 1: the Python value 7.5, before"):
        function(np.float32(1), 7.5)


def test_the_warning_names_shapes_that_changed():
    function = unisono.function(lambda batch: batch["x"] * 2)
    for rows in range(1, 10):
        function({"x": np.zeros(rows, "float32")})
    with pytest.warns(UserWarning, match=r"argument 0\['x'\]: an array of shape \(10,\).*before.*shape \(9,\)"):
        function({"x": np.zeros(10, "float32")})


def test_an_input_signature_refuses_other_arguments_and_makes_arrays_of_numbers():
    traces = []

    @unisono.function(input_signature=[TensorSpec((None,), "float32"), TensorSpec((), "float32")])
    def scaled(x, rate):
        traces.append(1)
        return x * rate

    x = np.ones(2, "float32")
    assert scaled(x, 2).tolist() == scaled(x, 2.0).tolist() == [2.0, 2.0]
    assert scaled(x, 3).tolist() == [3.0, 3.0]
    assert len(traces) == 1
    for wrong in (np.ones((2, 2), "float32"), np.ones(2, "int32")):
        with pytest.raises(TypeError, match="input_signature"):
            scaled(wrong, 1.0)


def test_results_keep_their_structure_and_what_is_no_array():
    function = unisono.function(lambda x: {"a": (x, None), "b": ["text", 3], "c": x + 1})
    result = function(np.float32(1))
    assert result["b"] == ["text", 3]
    assert result["a"][1] is None
    assert float(result["a"][0]) == 1.0
    assert float(result["c"]) == 2.0


def test_a_function_without_a_result_returns_none():
    state = keras.Variable(0)

    @unisono.function
    def count():
        state.assign_add(1)

    assert count() is None
    assert count() is None
    assert int(state) == 2


class Counter:
    def __init__(self, start):
        self.state = keras.Variable(start)
        self.traces = 0

    @unisono.function
    def next(self, step):
        self.traces += 1
        self.state.assign_add(step)
        return self.state.value


def test_a_method_is_traced_for_each_instance():
    one, other = Counter(0), Counter(10)
    assert [int(one.next(1)), int(other.next(1)), int(one.next(1))] == [1, 11, 2]
    assert (one.traces, other.traces) == (1, 1)


@pytest.mark.slow
def test_a_method_does_not_keep_its_instance_alive():
    counter = Counter(0)
    counter.next(1)
    alive = weakref.ref(counter)
    del counter
    gc.collect()
    assert alive() is None


def test_a_copy_of_an_instance_has_functions_of_its_own():
    counter = Counter(0)
    counter.next(1)
    twin = copy.deepcopy(counter)
    assert int(twin.next(1)) == 2
    assert int(counter.state) == 1


def test_a_function_inside_a_function_is_a_part_of_it():
    state = keras.Variable(0.0)

    @unisono.function
    def inner(x):
        state.assign_add(x)
        return x + state

    @unisono.function
    def outer(x):
        return inner(x) + inner(x)

    assert float(outer(np.float32(1))) == 2.0 + 3.0
    assert float(state) == 2.0
    assert inner.experimental_get_tracing_count() == 0


def test_a_function_inside_jit_is_a_part_of_it():
    double = unisono.function(lambda x: x * 2)
    assert float(jax.jit(lambda x: double(x) + 1)(1.0)) == 3.0


def test_side_effects_happen_when_traced_and_every_time_when_run_eagerly():
    seen = []
    function = unisono.function(lambda x: seen.append(x) or x)
    function(np.float32(1))
    function(np.float32(2))
    assert len(seen) == 1
    unisono.run_functions_eagerly(True)
    try:
        assert unisono.functions_run_eagerly()
        function(np.float32(3))
        function(np.float32(3))
    finally:
        unisono.run_functions_eagerly(False)
    assert len(seen) == 3


def test_options_of_tensorflow_are_accepted():
    function = unisono.function(lambda x: x, jit_compile=True, reduce_retracing=True, autograph=False)
    assert float(function(np.float32(1))) == 1.0

    @unisono.function(reduce_retracing=True)
    def decorated(x):
        return x

    assert float(decorated(np.float32(1))) == 1.0


@pytest.mark.parametrize(
    "use",
    [
        lambda x: 1 if x > 0 else 2,
        lambda x: [None for _ in range(x)],
        float,
        np.asarray,
        lambda x: [1, 2, 3][x],
    ],
    ids=["if", "range", "float", "numpy", "index"],
)
def test_the_error_of_python_code_that_reads_a_traced_number_says_what_to_write(use):
    function = unisono.function(lambda x: use(x))
    with pytest.raises(unisono.TracedValueError, match=r"keras.ops.cond\((.|\n)*while_loop") as error:
        function(jnp.int32(2))
    assert isinstance(error.value, TypeError)


def test_a_failed_trace_leaves_variables_as_they_were():
    state = keras.Variable(1.0)

    @unisono.function
    def wrong(x):
        state.assign_add(x)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        wrong(np.float32(1))
    assert float(state) == 1.0


def test_a_value_that_is_still_referenced_survives_the_next_step():
    weight = keras.Variable(np.zeros(3, "float32"))

    @unisono.function
    def step():
        weight.assign_add(jnp.ones(3))
        return weight.value

    before = weight.value
    first = step()
    second = step()
    assert before.tolist() == [0, 0, 0]
    assert first.tolist() == [1, 1, 1]
    assert second.tolist() == [2, 2, 2]


def test_a_loop_over_a_dataset_runs_on_the_host_with_its_functions_compiled():
    traces = []

    @unisono.function
    def square(x):
        traces.append(1)
        return x * x

    @unisono.function
    def total(dataset):
        result = 0
        for x in dataset:
            result = result + square(x)
        return result

    dataset = Dataset.range(4)
    assert int(total(dataset)) == int(total(dataset)) == 14
    assert len(traces) == 1


def test_a_loop_over_a_shuffled_dataset_takes_one_order_per_call():
    order = unisono.function(lambda dataset: [int(x) for x in dataset])
    dataset = Dataset.range(20).shuffle(20, seed=3)
    expected = [[int(x) for x in dataset] for _ in range(2)]
    again = Dataset.range(20).shuffle(20, seed=3)
    assert [order(again), order(again)] == expected


def test_an_iterator_may_be_an_argument():
    @unisono.function
    def two(iterator):
        return next(iterator) + next(iterator)

    iterator = iter(Dataset.range(4))
    assert [int(two(iterator)), int(two(iterator))] == [1, 5]


def test_a_choice_takes_effect_only_on_the_branch_that_is_taken():
    state = keras.Variable(0.0)

    @unisono.function
    def choose(x):
        keras.ops.cond(x > 0, lambda: state.assign_add(1.0), lambda: state.assign(-5.0))
        return state.value

    assert [float(choose(np.float32(x))) for x in (1, 1, -1, 1)] == [1.0, 2.0, -5.0, -4.0]


def test_choices_nest():
    state = keras.Variable(0.0)

    @unisono.function
    def choose(x):
        def positive():
            state.assign_add(1.0)
            keras.ops.cond(x > 10, lambda: state.assign_add(100.0), lambda: state.value)

        keras.ops.cond(x > 0, positive, lambda: None)

    for x in (1, 20, -1):
        choose(np.float32(x))
    assert float(state) == 102.0


def test_an_assignment_in_the_body_of_a_loop_is_an_error_that_says_so():
    state = keras.Variable(0.0)

    @unisono.function
    def wrong(xs):
        return jax.lax.scan(lambda carry, x: (carry + x, state.assign_add(x)), 0.0, xs)

    with pytest.raises(RuntimeError, match="assigned inside a part of the function that JAX traces by itself"):
        wrong(np.ones(3, "float32"))


def test_a_variable_may_be_read_in_the_body_of_a_loop():
    rate = keras.Variable(2.0)

    @unisono.function
    def total(xs):
        return jax.lax.scan(lambda carry, x: (carry + x * rate.value, None), 0.0, xs)[0]

    assert float(total(np.ones(3, "float32"))) == 6.0
    rate.assign(3.0)
    assert float(total(np.ones(3, "float32"))) == 9.0


def test_random_numbers_without_a_seed_differ_from_call_to_call_and_repeat_from_the_global_seed():
    draws = []
    for _ in range(2):
        keras.utils.set_random_seed(5)
        draw = unisono.function(lambda: keras.random.normal((3,)))
        draws.append([draw().tolist(), draw().tolist()])
    assert draws[0][0] != draws[0][1]
    assert draws[0] == draws[1]


def test_models_and_optimizers_may_be_arguments():
    @unisono.function
    def forward(model, x):
        return model(x)

    x = np.ones((2, 3), "float32")
    models = [keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)]) for _ in range(2)]
    for model in models:
        np.testing.assert_allclose(forward(model, x), model(x), rtol=1e-6)
    assert forward.experimental_get_tracing_count() == 2


def test_the_dtype_policy_in_force_is_part_of_the_program():
    layer_made = []
    function = unisono.function(lambda x: layer_made.append(keras.config.dtype_policy().name) or x)
    function(np.float32(1))
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        function(np.float32(1))
    finally:
        keras.config.set_dtype_policy("float32")
    assert layer_made == ["float32", "mixed_bfloat16"]


def test_add_loss_and_regularizers_are_collected_inside_a_function():
    layer = keras.layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")
    model = keras.Sequential([keras.Input((3,)), layer])
    x = np.ones((2, 3), "float32")

    @unisono.function
    def losses(x):
        model(x)
        return list(model.losses)

    model(x)
    expected = sorted(map(float, model.losses))
    np.testing.assert_allclose(sorted(map(float, losses(x))), expected, rtol=1e-6)
    assert len(expected) == 2


def test_get_concrete_function_traces_before_the_first_call():
    function, traces = counting(lambda x: x * 2)
    concrete = function.get_concrete_function(np.float32(1))
    assert len(traces) == 1
    assert float(concrete(np.float32(4))) == 8.0
    assert len(traces) == 1


@pytest.mark.full
def test_memory_does_not_grow_with_the_calls():
    state = keras.Variable(np.zeros(8, "float32"))

    @unisono.function
    def step(x):
        state.assign_add(x)
        return state.value.sum()

    x = np.ones(8, "float32")
    step(x)
    gc.collect()
    before = len(jax.live_arrays())
    for _ in range(30):
        step(x)
    gc.collect()
    assert len(jax.live_arrays()) <= before + 1


def test_metrics_that_a_step_does_not_touch_do_not_disturb_it():
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    with strategy.scope():
        used, unused = keras.metrics.Mean(), keras.metrics.Mean()
    unused.update_state(3.0)

    @unisono.function
    def step(x):
        strategy.run(lambda x: used.update_state(x), args=(x,))

    (batch,) = strategy.experimental_distribute_dataset(Dataset.range(2).map(lambda x: x * 1.0).batch(2))
    step(batch)
    assert float(used.result()) == 0.5
    assert float(unused.result()) == 3.0


@pytest.mark.slow
def test_a_program_for_an_object_goes_with_the_object() -> None:
    class Factor:
        def __init__(self, value: float) -> None:
            self.value = value

    @unisono.function
    def times(factor: Factor, x: Any) -> Any:
        return factor.value * x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # many objects, many traces
        got = [float(times(Factor(float(number)), np.float32(1))) for number in range(30)]  # identities come again
    assert got == list(map(float, range(30)))
    gc.collect()
    assert times.experimental_get_tracing_count() <= 1


@pytest.mark.slow
def test_the_arrays_of_the_first_call_are_not_kept() -> None:
    total = unisono.function(lambda x: x.sum())
    x = jnp.ones(3)
    total(x)
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is None


def test_a_shallow_copy_of_an_instance_has_functions_of_its_own() -> None:
    class Scaled:
        factor = 2.0

        @unisono.function
        def __call__(self, x):
            return x * self.factor

    one = Scaled()
    assert float(Scaled.__call__.__get__(one)(np.float32(1))) == 2
    twin = copy.copy(one)
    twin.factor = 5.0
    assert [float(each(np.float32(1))) for each in (twin, one)] == [5, 2]


def test_a_method_of_a_class_with_slots() -> None:
    class Scaled:
        __slots__ = ("factor", "traces")

        def __init__(self, factor):
            self.factor, self.traces = factor, 0

        @unisono.function(input_signature=[TensorSpec((), "float32")])
        def apply(self, x):
            self.traces += 1
            return x * self.factor

    one, other = Scaled(2.0), Scaled(3.0)
    assert [float(each.apply(np.float32(1))) for each in (one, other, one)] == [2, 3, 2]
    assert (one.traces, other.traces) == (1, 1)


def test_a_method_that_replaces_another_one_is_a_new_function() -> None:
    class Model:
        pass

    model = Model()
    Model.apply = unisono.function(lambda self: "before")
    assert model.apply.python_function() == "before"
    del Model.apply
    functions = [unisono.function(lambda self: "after") for _ in range(50)]  # one may get its place in memory
    assert {each.__get__(model).python_function() for each in functions} == {"after"}


def test_the_precision_of_products_is_part_of_the_program() -> None:
    square = unisono.function(lambda x: x @ x)
    square(jnp.ones((2, 2)))
    with jax.default_matmul_precision("highest"):
        square(jnp.ones((2, 2)))
    assert square.experimental_get_tracing_count() == 2


def test_a_random_key_is_an_argument_of_a_function():
    @unisono.function
    def draw(key):
        return jax.random.normal(key, (2,))

    expected = jax.random.normal(jax.random.key(3), (2,))
    np.testing.assert_array_equal(draw(jax.random.key(3)), expected)
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    for value in strategy.experimental_local_results(strategy.run(lambda: draw(jax.random.key(3)))):
        np.testing.assert_array_equal(value, expected)
