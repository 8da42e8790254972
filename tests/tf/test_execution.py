"""`tf.timestamp`."""

import time

import pytest

import unisono.tf as tf


def test_a_timestamp_is_exact_enough_to_measure_with() -> None:
    before = time.time()
    stamp = tf.timestamp()
    assert stamp.dtype == tf.float64
    assert before <= stamp.numpy() <= time.time()
    assert 0 <= float(tf.timestamp() - stamp) < 60


def test_there_is_none_inside_of_compiled_functions() -> None:
    with pytest.raises(NotImplementedError, match="before and after the call"):
        tf.function(tf.timestamp)()
