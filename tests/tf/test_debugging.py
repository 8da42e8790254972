"""`tf.debugging`: assertions that fail; `tf.nest`: structures that differ."""

import jax
import pytest

import unisono.tf as tf

FAILING = {
    "equal": lambda: tf.debugging.assert_equal([1, 2], [1, 3], message="labels"),
    "none equal": lambda: tf.debugging.assert_none_equal([1, 2], [1, 3]),
    "less": lambda: tf.debugging.assert_less([1, 2], 2),
    "less equal": lambda: tf.debugging.assert_less_equal([1, 3], 2),
    "greater": lambda: tf.debugging.assert_greater([1, 3], 2),
    "greater equal": lambda: tf.debugging.assert_greater_equal([1, 3], 2),
    "positive": lambda: tf.debugging.assert_positive([0.0]),
    "negative": lambda: tf.debugging.assert_negative([0.0]),
    "non negative": lambda: tf.debugging.assert_non_negative([-1.0]),
    "non positive": lambda: tf.debugging.assert_non_positive([1.0]),
    "near": lambda: tf.debugging.assert_near([1.0], [1.1]),
    "finite": lambda: tf.debugging.assert_all_finite([float("nan")], "loss"),
    "numerics": lambda: tf.debugging.check_numerics([float("inf")], "loss"),
    "assert": lambda: tf.debugging.Assert(tf.constant(False), ["why"]),
    "text": lambda: tf.debugging.assert_equal("a", "b"),
}

FAILING_AT_ONCE = {
    "rank": lambda x: tf.debugging.assert_rank(x, 2),
    "rank at least": lambda x: tf.debugging.assert_rank_at_least(x, 2),
    "rank in": lambda x: tf.debugging.assert_rank_in(x, [0, 2]),
    "scalar": lambda x: tf.debugging.assert_scalar(x),
    "shapes": lambda x: tf.debugging.assert_shapes([(x, ("N", 3))]),
    "same size": lambda x: tf.debugging.assert_shapes([(x, ("N",)), (tf.ones([3]), ("N",))]),
    "dtypes": lambda x: tf.debugging.assert_same_float_dtype([x, tf.constant(1)]),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_failed_value_assertion_raises_invalid_argument(name):
    with pytest.raises(tf.errors.InvalidArgumentError):
        FAILING[name]()


@pytest.mark.parametrize("name", FAILING_AT_ONCE)
def test_a_failed_shape_assertion_raises_while_tracing(name):
    with pytest.raises(ValueError, match=r"[Ee]xpected"):
        tf.function(FAILING_AT_ONCE[name])(tf.constant([1.0, 2.0]))


def test_wrong_dtypes_are_type_errors():
    with pytest.raises(TypeError, match=r"tf.float32, expected tf.int32"):
        tf.debugging.assert_type(tf.constant(1.0), tf.int32)
    with pytest.raises(TypeError, match="an integer dtype"):
        tf.debugging.assert_integer(tf.constant(1.0))


def test_the_error_contains_the_message_and_the_values():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"labels x == y .*\[1 2\] and \[1 3\]"):
        tf.debugging.assert_equal([1, 2], [1, 3], message="labels")


def test_an_assertion_runs_inside_a_compiled_function():
    @tf.function
    def root(x):
        tf.debugging.assert_non_negative(x, message="below zero:")
        return tf.sqrt(x)

    assert float(root(tf.constant(4.0))) == 2.0
    with pytest.raises(jax.errors.JaxRuntimeError, match="below zero: x >= y"):
        jax.block_until_ready(root(tf.constant(-4.0)))


def test_enable_check_numerics_raises_on_nan():
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(FloatingPointError):
            tf.math.log(tf.constant(-1.0))
    finally:
        tf.debugging.disable_check_numerics()


def test_log_device_placement_is_accepted_without_effect():
    before = tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(True)
    assert tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(before)


def test_different_structures_raise():
    tf.nest.assert_same_structure([1, {"a": 2}], [3, {"a": 4}])
    with pytest.raises(ValueError, match="same structure"):
        tf.nest.assert_same_structure([1, 2], [1])
    with pytest.raises(TypeError, match="same structure"):
        tf.nest.assert_same_structure([1], (1,))
    with pytest.raises(ValueError, match="2 leaves, but flat_sequence has 1 values"):
        tf.nest.pack_sequence_as([1, 2], [1])
