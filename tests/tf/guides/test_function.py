"""guide/function and guide/intro_to_graphs: Better performance with tf.function, graphs and functions."""

import weakref

import numpy as np
import pytest

import unisono.tf as tf


def test_usage() -> None:
    """decorated and wrapped functions, functions that call functions, a gradient through one"""

    @tf.function
    def add(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return a + b

    np.testing.assert_array_equal(add(tf.ones([2, 2]), tf.ones([2, 2])), np.full((2, 2), 2))
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        result = add(v, 1.0)
    assert tape.gradient(result, v) == 1.0

    @tf.function
    def dense_layer(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return add(tf.matmul(x, w), b)

    assert dense_layer(tf.ones([3, 2]), tf.ones([2, 2]), tf.ones([2])).shape == (3, 2)
    assert tf.function(lambda x: x * x)(tf.constant(3)) == 9


def test_tracing() -> None:
    """polymorphic functions, one trace per dtype; get_concrete_function; its signature as text"""
    traced = []

    @tf.function
    def double(a: tf.Tensor) -> tf.Tensor:
        traced.append(a)
        return a + a

    double(tf.constant(1))
    double(tf.constant(1.1))
    assert len(traced) == 2
    concrete = double.get_concrete_function(tf.constant(2))
    assert len(traced) == 2
    assert concrete(tf.constant(3)) == 6
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError)):
        concrete(tf.constant(1.5))
    assert concrete.structured_input_signature

    @tf.function
    def power(a: tf.Tensor, b: int) -> tf.Tensor:
        return a**b

    square = power.get_concrete_function(a=tf.TensorSpec((), tf.float32), b=2)
    assert square(tf.constant(10.0)) == 100
    with pytest.raises(TypeError, match="does not fit"):
        square(tf.constant(10.0), b=3)
    assert "float32" in double.pretty_printed_concrete_signatures()
    assert str(concrete).startswith("double(TensorSpec(")


def test_concrete_functions() -> None:
    """a concrete function for text; objects and numbers that it was made for are left out of its calls; graph"""

    @tf.function
    def double(a: tf.Tensor) -> tf.Tensor:
        return a + a

    double_strings = double.get_concrete_function(tf.constant("a"))
    assert double_strings(a=tf.constant("b")) == b"bb"
    for other in (tf.constant(1), 1, tf.constant(["a"])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="'a' does not fit the signature"):
            double_strings(other)
    for name in ("graph", "function_type", "inference_fn"):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}': \w+"):
            getattr(double_strings, name)

    class Model(tf.Module):
        bias = 1.0

    def evaluate(model: Model, x: tf.Tensor, factor: float, y: tf.Tensor) -> tf.Tensor:
        return model.bias + factor * x - y

    model = Model()
    concrete = tf.function(evaluate).get_concrete_function(model, tf.constant(2.0), 3.0, y=tf.constant(1.0))
    assert concrete(tf.constant(3.0), tf.constant(2.0)) == 8.0
    assert concrete(tf.constant(3.0), y=tf.constant(2.0)) == 8.0
    assert concrete(model, tf.constant(3.0), 3.0, tf.constant(2.0)) == 8.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="'x' does not fit"):
        concrete(tf.constant(3), tf.constant(2.0))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        concrete(tf.constant(3.0))
    with pytest.raises(TypeError, match="too many positional"):
        concrete(model, tf.constant(3.0), 3.0, tf.constant(2.0), 1)


def test_leaked_tensors() -> None:
    """numpy() of a tensor that a function stored outside is an AttributeError, and its use in another one an error"""
    stored = None

    @tf.function
    def leaky(a: tf.Tensor) -> tf.Tensor:
        nonlocal stored
        stored = a + 1
        return stored

    assert leaky(tf.constant(1)).numpy() == 2
    assert stored is not None
    with pytest.raises(AttributeError, match="stored was assigned inside a compiled function"):
        stored.numpy()
    with pytest.raises(TypeError, match="stored was assigned inside a compiled function"):
        tf.function(lambda b: b + stored)(tf.constant(2))


def test_input_signatures() -> None:
    """input_signature with unknown sizes refuses other ranks and dtypes; named arguments"""

    @tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
    def next_collatz(x: tf.Tensor) -> tf.Tensor:
        return tf.where(x % 2 == 0, x // 2, 3 * x + 1)

    np.testing.assert_array_equal(next_collatz(tf.constant([1, 2])), [4, 1])
    np.testing.assert_array_equal(next_collatz(tf.constant([1, 2, 6])), [4, 1, 3])
    with pytest.raises((TypeError, ValueError)):
        next_collatz(tf.constant([[1, 2], [3, 4]]))
    with pytest.raises((TypeError, ValueError)):
        next_collatz(tf.constant([1.0, 2.0]))


def test_retracing() -> None:
    """Python values retrace, tensors do not; reduce_retracing; a spec of unknown sizes in get_concrete_function"""
    traces = []

    @tf.function
    def train(num_steps: object) -> None:
        traces.append(num_steps)

    train(num_steps=10)
    train(num_steps=20)
    assert len(traces) == 2
    train(num_steps=tf.constant(10))
    train(num_steps=tf.constant(20))
    assert len(traces) == 3

    @tf.function(reduce_retracing=True)
    def g(x: tf.Tensor) -> tf.Tensor:
        return x

    assert g(tf.constant([1, 2, 3])).shape == (3,)
    assert g(tf.constant([1, 2, 3, 4, 5])).shape == (5,)


def test_control_flow() -> None:
    """AutoGraph: while, for with break and continue, if on tensors; tf.print; autograph.to_code"""

    @tf.function
    def shrink(x: tf.Tensor) -> tf.Tensor:
        while tf.reduce_sum(x) > 1:
            x = tf.tanh(x)
        return x

    assert float(tf.reduce_sum(shrink(tf.constant([0.9, 0.8, 0.7])))) <= 1

    @tf.function
    def fizzbuzz(n: tf.Tensor) -> tf.Tensor:
        counts = tf.zeros([3], tf.int32)
        for i in tf.range(1, n + 1):
            if i % 15 == 0:
                counts += [1, 0, 0]
            elif i % 3 == 0:
                counts += [0, 1, 0]
            elif i % 5 == 0:
                counts += [0, 0, 1]
        return counts

    np.testing.assert_array_equal(fizzbuzz(tf.constant(15)), [1, 4, 2])

    @tf.function
    def first_over(limit: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0)
        for i in tf.range(100):
            if i % 2 == 0:
                continue
            if total > limit:
                break
            total += i
        return total

    assert first_over(tf.constant(20)) == 25
    assert "def" in tf.autograph.to_code(fizzbuzz.python_function)
    assert tf.function(lambda x: tf.cond(x > 0, lambda: x, lambda: -x))(tf.constant(-2)) == 2


def test_loops_over_data_and_accumulation() -> None:
    """a loop over a dataset; TensorArray of a loop, transposed"""

    @tf.function
    def total(dataset: tf.data.Dataset) -> tf.Tensor:
        result = tf.constant(0, tf.int64)
        for x in dataset:
            result += x
        return result

    assert total(tf.data.Dataset.range(5)) == 10

    @tf.function
    def dynamic_rnn(input_data: tf.Tensor, state: tf.Tensor) -> tf.Tensor:
        input_data = tf.transpose(input_data, [1, 0, 2])
        max_seq_len = input_data.shape[0]
        states = tf.TensorArray(tf.float32, size=max_seq_len)
        for i in tf.range(max_seq_len):
            state = state + input_data[i]
            states = states.write(i, state)
        return tf.transpose(states.stack(), [1, 0, 2])

    np.testing.assert_allclose(dynamic_rnn(tf.ones([2, 3, 4]), tf.zeros([2, 4]))[:, :, 0], [[1, 2, 3]] * 2)


def test_python_side_effects_and_variables() -> None:
    """side effects happen while tracing; variables are state, made once; free Python values are frozen"""
    external_list = []

    @tf.function
    def side_effect(x: tf.Tensor) -> tf.Tensor:
        external_list.append(x)
        return x + 1

    side_effect(tf.constant(1))
    side_effect(tf.constant(2))
    assert len(external_list) == 1

    class Count(tf.Module):
        def __init__(self) -> None:
            self.count = None

        @tf.function
        def __call__(self) -> tf.Tensor:
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(1)

    c = Count()
    assert [int(c()), int(c())] == [1, 2]
    external_var = tf.Variable(0)

    @tf.function
    def buggy_consume_next(iterator: object) -> None:
        external_var.assign_add(next(iterator))

    iterator = iter(tf.data.Dataset.from_tensor_slices([0, 1, 2, 3]))
    buggy_consume_next(iterator)
    buggy_consume_next(iterator)
    assert external_var.numpy() == 1

    @tf.function
    def creates_each_time(x: tf.Tensor) -> tf.Tensor:
        v = tf.Variable(1.0)
        return v + x

    with pytest.raises(ValueError):  # noqa: PT011
        creates_each_time(tf.constant(1.0))


def test_methods_and_objects_as_arguments() -> None:
    """a function as a method keeps its object apart; objects as arguments are static"""

    class SimpleModel:
        def __init__(self, bias: float) -> None:
            self.bias = tf.constant(bias)
            self.weight = tf.Variable(2.0)

        @tf.function
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return x * self.weight + self.bias

    assert SimpleModel(5.0)(tf.constant(2.0)) == 9.0
    assert SimpleModel(6.0)(tf.constant(2.0)) == 10.0

    @tf.function
    def evaluate(model: SimpleModel, x: tf.Tensor) -> tf.Tensor:
        return model.weight * x + model.bias

    one = SimpleModel(1.0)
    assert evaluate(one, tf.constant(3.0)) == 7.0
    one.weight.assign(3.0)
    assert evaluate(one, tf.constant(3.0)) == 10.0
    alive = weakref.ref(one)
    assert alive() is one


def test_python_code_at_run_time() -> None:
    """py_function and numpy_function in a function, run_functions_eagerly"""
    seen = []

    def record(x: tf.Tensor) -> tf.Tensor:
        seen.append(x.numpy())
        return x + 1

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        return tf.py_function(record, inp=[x], Tout=tf.float32)

    with pytest.warns(UserWarning, match="runs on the host"):
        assert f(tf.constant(1.0)) == 2.0
    assert f(tf.constant(3.0)) == 4.0
    assert [float(value) for value in seen] == [1.0, 3.0]
    tf.config.run_functions_eagerly(True)
    try:
        calls = []

        @tf.function
        def g(x: int) -> int:
            calls.append(x)
            return x

        g(1)
        g(1)
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(calls) == 2


def test_execution_in_graphs() -> None:
    """executing_eagerly inside and outside; non-strict execution of what is not used; jit_compile"""
    inside = []

    @tf.function(jit_compile=True)
    def f(x: tf.Tensor) -> tf.Tensor:
        inside.append(tf.executing_eagerly())
        return x

    f(tf.constant(1))
    assert inside == [False]
    assert tf.executing_eagerly()

    @tf.function
    def unused_return(x: tf.Tensor) -> tf.Tensor:
        tf.gather(x, [1])
        return x

    assert unused_return(tf.constant([0.0])).numpy() == [0.0]


def test_functions_by_python_type() -> None:
    """the number of traces: experimental_get_tracing_count"""

    @tf.function
    def power(x: tf.Tensor, exponent: int) -> tf.Tensor:
        return x**exponent

    power(tf.constant(2.0), 2)
    power(tf.constant(3.0), 2)
    power(tf.constant(2.0), 3)
    assert power.experimental_get_tracing_count() == 2
