"""Control flow that assigns variables, and what raises."""

import numpy as np
import pytest

import unisono.tf as tf


def test_branches_assign_variables():
    count = tf.Variable(0)

    @tf.function
    def step(x):
        return tf.cond(x > 0, lambda: count.assign_add(1), lambda: count.assign_sub(10))

    step(tf.constant(1.0))
    step(tf.constant(-1.0))
    assert count.numpy() == -9


def test_loops_assign_variables():
    total = tf.Variable(0)

    @tf.function
    def sum_up(n):
        def body(i):
            total.assign_add(i)
            return (i + 1,)

        return tf.while_loop(lambda i: i < n, body, (tf.constant(0),))

    assert sum_up(tf.constant(5))[0] == 5
    assert total.numpy() == 10


def test_a_loop_with_maximum_iterations_assigns_variables():
    total = tf.Variable(0)

    @tf.function
    def sum_up(n):
        def body(i):
            total.assign_add(i)
            return (i + 1,)

        return tf.while_loop(lambda i: i < n, body, (tf.constant(0),), maximum_iterations=4)

    assert sum_up(tf.constant(3))[0] == 3
    assert sum_up(tf.constant(9))[0] == 4
    assert total.numpy() == (0 + 1 + 2) + (0 + 1 + 2 + 3)


def test_a_gradient_through_a_loop_without_a_bound_is_computed_on_the_host():
    @tf.function
    def power(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), (tf.constant(0), tf.constant(1.0)))
        return tape.gradient(y, x)

    with pytest.warns(UserWarning, match=r"power is not compiled.*maximum_iterations"):
        assert float(power(tf.constant(2.0), tf.constant(3))) == 12.0
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match="maximum_iterations"):
        strategy.run(power, args=(tf.constant(2.0), tf.constant(3)))


def test_a_loop_variable_that_changes_its_dtype_is_named():
    @tf.function
    def wrong(n):
        return tf.while_loop(lambda i: i < n, lambda i: (tf.cast(i, tf.float32) + 0.5,), (tf.constant(0),))

    with pytest.raises(ValueError, match=r"changes the dtype.*from int32 to float32"):
        wrong(tf.constant(3))


def test_a_case_without_a_true_condition_is_an_error():
    with pytest.raises(ValueError, match="there is no default"):
        tf.case([(tf.constant(False), lambda: 1)])


def test_two_true_conditions_are_an_error_where_one_is_expected():
    pairs = [(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)]
    assert tf.case(pairs) == 1
    with pytest.raises(ValueError, match="2 of the conditions are true"):
        tf.case(pairs, exclusive=True)


def test_strings_are_mapped_on_the_host():
    numbers = tf.map_fn(
        lambda text: tf.strings.to_number(text), tf.constant(["1", "2.5"]), fn_output_signature=tf.float32
    )
    np.testing.assert_allclose(numbers, [1, 2.5])


def test_the_shape_of_a_traced_tensor_can_be_used_as_a_shape():
    @tf.function
    def flat(x):
        batch = tf.shape(x)[0]
        size = tf.reduce_prod(tf.shape(x)[1:])
        noise = tf.random.normal([batch, size])
        return tf.reshape(x, [batch, size]) + tf.zeros_like(noise), tf.ones(tf.shape(x)[:1])

    first, second = flat(tf.ones([2, 3, 4]))
    assert first.shape == (2, 12)
    assert second.shape == (2,)


def test_a_function_with_a_size_that_depends_on_values_runs_on_the_host():
    zeros = tf.function(lambda n: tf.zeros([n]))
    with pytest.warns(UserWarning, match="A shape depends on the values of a tensor"):
        assert zeros(tf.constant(3)).shape == (3,)
    assert zeros(tf.constant(2)).shape == (2,)
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match="known before the function runs"):
        strategy.run(zeros, args=(tf.constant(3),))


def test_parallel_stack_and_generator_states():
    assert tf.parallel_stack([tf.constant([1, 2]), [3, 4]]).numpy().tolist() == [[1, 2], [3, 4]]
    assert tf.random.experimental.Algorithm.PHILOX is tf.random.Algorithm.PHILOX
    assert tf.random.experimental.create_rng_state(7, "philox")[0] == 7


def test_tf_gradients_raises_and_names_the_tape():
    with pytest.raises(NotImplementedError, match=r"tf.GradientTape"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(NotImplementedError, match=r"tf.GradientTape"):
        tf.hessians(tf.constant(1.0), tf.constant(1.0))


def test_a_custom_gradient_that_reads_a_variable_is_an_error():
    weight = tf.Variable(2.0, name="weight")

    @tf.custom_gradient
    def scaled(x):
        return x * weight, lambda upstream: upstream

    with pytest.raises(TypeError, match="reads the variable 'weight'"):
        scaled(tf.constant(1.0))


def test_tensor_array_errors():
    with pytest.raises(ValueError, match="row 5 of 2"):
        tf.TensorArray(tf.float32, size=2).write(5, 1.0)
    with pytest.raises(ValueError, match="row 0 was read"):
        tf.TensorArray(tf.float32, size=2).read(0)


def test_functions_take_and_return_text_on_the_host():
    @tf.function
    def double(a):
        return a + a

    @tf.function
    def label(x):
        return tf.strings.join(["score ", tf.strings.as_string(x)])

    @tf.function
    def constant(x):
        return x * 2, tf.constant("done")

    assert double(tf.constant("a")).numpy() == b"aa"
    assert double(tf.constant(1)).numpy() == 2
    with pytest.warns(UserWarning, match="label is not compiled"):
        assert label(tf.constant(3)).numpy() == b"score 3"
    number, text = constant(tf.constant(2))
    assert (int(number), text.numpy()) == (4, b"done")
    concrete = double.get_concrete_function(tf.TensorSpec(shape=None, dtype=tf.string))
    assert concrete(tf.constant("b")).numpy() == b"bb"
