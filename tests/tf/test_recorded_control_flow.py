"""Control flow, functions, variables and tapes, compared with recorded results of TensorFlow."""

import collections
import warnings

import numpy as np

import unisono.tf as tf
from tests.tf.recording import random_numbers, recorded

Pair = collections.namedtuple("Pair", "a b")


@recorded
def test_conditionals():
    x = tf.constant(3)
    return {
        "cond": [tf.cond(x > 2, lambda: x * 2, lambda: x), tf.cond(x > 5, lambda: x * 2, lambda: x)],
        "case": tf.case([(x > 5, lambda: 1), (x > 2, lambda: 2)], default=lambda: 3),
        "default": tf.case([(x > 5, lambda: 1)], default=lambda: 3),
        "switch": [tf.switch_case(tf.constant(each), [lambda: 10, lambda: 20]) for each in (0, 1, 7)],
        "switch by key": tf.switch_case(x - 2, {0: lambda: 10, 1: lambda: 30}, default=lambda: 0),
    }


@recorded
def test_conditionals_in_a_function():
    @tf.function
    def chosen(x):
        return (
            tf.cond(x > 2, lambda: x * 2, lambda: x),
            tf.case([(x > 5, lambda: 1), (x > 2, lambda: 2)], default=lambda: 3),
            tf.switch_case(x, [lambda: 10, lambda: 20], default=lambda: 30),
        )

    return [chosen(tf.constant(each)) for each in (0, 1, 3, 7)]


@recorded
def test_loops():
    def summed(n):
        return tf.while_loop(
            lambda i, total: i < n, lambda i, total: (i + 1, total + i), (tf.constant(0), tf.constant(0))
        )

    compiled = tf.function(summed)
    rows = tf.constant([1, 2, 3, 4])
    return {
        "while": summed(tf.constant(5)),
        "compiled": compiled(tf.constant(5)),
        "at most": tf.while_loop(lambda i: i < 100, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=7),
        "map": tf.map_fn(lambda x: x * x, rows),
        "map several": tf.map_fn(lambda ab: ab[0] + ab[1], (rows, rows), fn_output_signature=tf.int32),
        "map to several": tf.map_fn(lambda x: (x, -x), rows, fn_output_signature=(tf.int32, tf.int32)),
        "vectorized": tf.vectorized_map(lambda x: x + 1, rows),
        "foldl": [tf.foldl(lambda a, x: a - x, rows), tf.foldl(lambda a, x: a - x, rows, initializer=100)],
        "foldr": [tf.foldr(lambda a, x: a - x, rows), tf.foldr(lambda a, x: a - x, rows, initializer=100)],
        "scan": [tf.scan(lambda a, x: a + x, rows), tf.scan(lambda a, x: a + x, rows, initializer=10)],
        "scan back": tf.scan(lambda a, x: a + x, rows, reverse=True),
        "mapped in a function": tf.function(lambda x: tf.map_fn(lambda each: each * 2, x))(rows),
        "scanned in a function": tf.function(lambda x: tf.scan(lambda a, each: a + each, x))(rows),
    }


@recorded
def test_gradients_through_a_loop():
    @tf.function
    def power(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(
                lambda i, y: i < 3,
                lambda i, y: (i + 1, y * x),
                (tf.constant(0), tf.constant(1.0)),
                maximum_iterations=5,
            )
        return y, tape.gradient(y, x)

    return power(tf.constant(2.0))


@recorded
def test_tensor_arrays():
    array = tf.TensorArray(tf.float32, size=3, clear_after_read=False)
    for index in range(3):
        array = array.write(index, [float(index), 1.0])

    @tf.function
    def squares(n):
        _, written = tf.while_loop(
            lambda i, array: i < n,
            lambda i, array: (i + 1, array.write(i, tf.cast(i * i, tf.float32))),
            (tf.constant(0), tf.TensorArray(tf.float32, size=5)),
        )
        return written.stack()

    other = tf.TensorArray(tf.int32, size=0, dynamic_size=True).write(1, 5).write(0, 4)
    return {
        "stack": array.stack(),
        "read": array.read(1),
        "size": array.size(),
        "gather": array.gather([2, 0]),
        "concat": array.concat(),
        "unstack": tf.TensorArray(tf.int32, size=2).unstack([7, 8]).read(1),
        "scatter": tf.TensorArray(tf.int32, size=2).scatter([1, 0], [7, 8]).stack(),
        "split": tf.TensorArray(tf.int32, size=2, infer_shape=False).split([1, 2, 3], [1, 2]).read(1),
        "grown": other.stack(),
        "in a loop": squares(tf.constant(4)),
    }


@recorded
def test_custom_gradients():
    @tf.custom_gradient
    def clipped(x):
        def gradient(upstream):
            return tf.clip_by_value(upstream * 2 * x, -1.0, 1.0)

        return x * x, gradient

    @tf.custom_gradient
    def product(x, y):
        return x * y, lambda upstream: (upstream * 10.0, upstream * 20.0)

    x = tf.Variable([0.1, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reduce_sum(clipped(x))
        z = product(x, x + 1)
        w = tf.grad_pass_through(tf.round)(x)
        v = tf.stop_gradient(x) * x
        u = tf.recompute_grad(lambda a: tf.sin(a) * a)(x)
    return [tape.gradient(each, x) for each in (y, z, w, v, u)]


def call_without_warnings(function, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(x)


@recorded
def test_python_functions():
    def doubled(x):
        return x * 2

    @tf.function
    def compiled(x):
        total = tf.numpy_function(np.sum, [x], tf.float32)
        return total + 1, tf.py_function(lambda each: each.numpy().max(), [x], tf.float32)

    x = tf.constant([1.0, 2.5])
    return {
        "numpy": tf.numpy_function(doubled, [x], tf.float32),
        "py": tf.py_function(lambda each: each.numpy() * 3, [x], tf.float32),
        "several": tf.numpy_function(lambda each: (each.sum(), each.max()), [x], [tf.float32, tf.float32]),
        "compiled": call_without_warnings(compiled, x),
    }


@recorded
def test_structures():
    nest = {"b": [1, (2, 3)], "a": Pair(4, None)}
    return {
        "flat": tf.nest.flatten(nest),
        "nested": [tf.nest.is_nested(nest), tf.nest.is_nested(3)],
        "mapped": tf.nest.map_structure(lambda x: x * 2, {"x": [1, 2], "y": (3,)}),
        "two": tf.nest.map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)]),
        "packed": tf.nest.pack_sequence_as({"y": 0, "x": [0, 0]}, [1, 2, 3]),
    }


@recorded
def test_assertions_that_hold():
    x = tf.constant([1.0, 2.0])
    tf.debugging.assert_equal(x, [1.0, 2.0])
    tf.debugging.assert_none_equal(x, [2.0, 1.0])
    tf.debugging.assert_less(x, 3.0)
    tf.debugging.assert_less_equal(x, 2.0)
    tf.debugging.assert_greater(x, 0.0)
    tf.debugging.assert_greater_equal(x, 1.0)
    tf.debugging.assert_positive(x)
    tf.debugging.assert_negative(-x)
    tf.debugging.assert_non_negative(x)
    tf.debugging.assert_non_positive(-x)
    tf.debugging.assert_near(x, x + 1e-7)
    tf.debugging.assert_rank(x, 1)
    tf.debugging.assert_rank_at_least(x, 1)
    tf.debugging.assert_rank_in(x, [1, 2])
    tf.debugging.assert_scalar(x[0])
    tf.debugging.assert_type(x, tf.float32)
    tf.debugging.assert_integer(tf.constant(1))
    tf.debugging.assert_shapes([(x, ("N",)), (tf.ones([2, 3]), ("N", 3))])
    tf.debugging.Assert(x[0] > 0, [x])
    tf.Assert(x[0] > 0, [x])
    tf.assert_equal(x, x)
    tf.assert_less(x, 3.0)
    tf.assert_greater(x, 0.0)
    tf.assert_rank(x, 1)
    return {
        "finite": tf.debugging.assert_all_finite(x, "not finite"),
        "checked": tf.debugging.check_numerics(x, "not finite"),
        "numeric": [tf.debugging.is_numeric_tensor(x), tf.debugging.is_numeric_tensor(tf.constant("a"))],
        "float": tf.debugging.assert_same_float_dtype([x]).name,
    }


@recorded
def test_variables():
    v = tf.Variable([1.0, 2.0])
    steps = []
    for change in (lambda: v.assign([3.0, 4.0]), lambda: v.assign_add([1.0, 1.0]), lambda: v.assign_sub([0.5, 0.5])):
        change()
        steps.append(v.numpy())
    counter = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def count(x):
        counter.assign_add(1)
        return x * tf.cast(counter, tf.float32)

    results = [count(tf.constant(2.0)) for _ in range(3)]
    return {
        "steps": steps,
        "sum": tf.reduce_sum(v),
        "operators": [v + 1, v * 2, v[0]],
        "counted": results,
        "counter": counter.numpy(),
    }


@recorded
def test_tapes():
    x, w = tf.constant(random_numbers(4, 3)), tf.Variable(random_numbers(3, 2, seed=1))
    b = tf.Variable([0.0, 0.5])
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.square(tf.nn.tanh(tf.matmul(x, w) + b)))
    first = tape.gradient(y, [w, b])
    z = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(z)
        with tf.GradientTape() as inner:
            inner.watch(z)
            cubed = z**3
        slope = inner.gradient(cubed, z)
    with tf.GradientTape(persistent=True) as both:
        both.watch(x)
        soft = tf.nn.softmax(x)
    return {
        "loss": y,
        "first": first,
        "second": outer.gradient(slope, z),
        "jacobian": both.jacobian(soft, x),
        "batch": both.batch_jacobian(soft, x),
    }


@recorded
def test_python_control_flow_in_a_function():
    @tf.function
    def collatz(n):
        steps = 0
        while n > 1:
            if n % 2 == 0:  # noqa: SIM108
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    @tf.function
    def total(n):
        found = 0
        for i in tf.range(n):
            if i % 2 == 0:
                found += i
        return found

    return [collatz(tf.constant(each)) for each in (1, 6, 7)], [total(tf.constant(each)) for each in (0, 5, 10)]
