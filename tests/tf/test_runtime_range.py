"""`tf.range`: lengths known only when the program runs, and the precision of the ends."""

from typing import Any

import pytest

import unisono
import unisono.tf as tf


@pytest.mark.parametrize(
    "use",
    [
        lambda numbers: numbers,
        lambda numbers: numbers * 2 + 1,
        lambda numbers: 7 - numbers,
        lambda numbers: numbers == 2,
        lambda numbers: numbers[:, None],
        lambda numbers: tf.cast(numbers, tf.float32),
        lambda numbers: numbers.shape[0],
    ],
)
@pytest.mark.filterwarnings("ignore:.*runs on the host")
def test_a_function_that_uses_a_range_of_unknown_length_as_a_tensor_runs_on_the_host(use: Any) -> None:
    found = tf.function(lambda n: use(tf.range(n)))(tf.constant(4))
    expected = use(tf.range(4))
    assert tf.constant(found).numpy().tolist() == tf.constant(expected).numpy().tolist()


@pytest.mark.filterwarnings("ignore:.*runs on the host")
def test_the_limit_of_a_range_can_be_a_variable() -> None:
    limit = tf.Variable(3)

    @tf.function
    def numbers() -> tf.Tensor:
        return tf.range(limit)

    assert numbers().numpy().tolist() == [0, 1, 2]


def test_a_loop_over_a_range_of_unknown_length_has_numbers_of_the_given_dtype() -> None:
    @tf.function
    def add(limit: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0.5)
        for number in tf.range(limit, dtype=tf.float32):
            total += number
        return total

    assert add(tf.constant(4)).numpy() == 6.5


def test_replicas_cannot_use_a_range_of_unknown_length_as_a_tensor() -> None:
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(unisono.ControlFlowError, match=r"tf\.range\(0, \?, 1\) is known only when"):
        strategy.run(lambda n: tf.reduce_sum(tf.range(n)), args=(tf.constant(4),))


def test_the_number_of_steps_is_computed_in_the_precision_of_the_ends() -> None:
    assert tf.range(1.0, 1.3, 0.1).shape == (3,)
    assert tf.range(0.0, 1.0, 0.1).shape == (10,)
