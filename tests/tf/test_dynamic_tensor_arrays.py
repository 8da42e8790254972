"""`tf.TensorArray`s that grow: functions that write them at traced indices run on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unisono.tf as tf


@tf.function
def smooth(xs: Any, rate: Any) -> Any:
    rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
    average = xs[0]
    for i in tf.range(tf.shape(xs)[0]):
        average = rate * xs[i] + (1.0 - rate) * average
        rows = rows.write(i, average)
    return rows.stack()


@tf.function
def run_episode(limit: Any) -> Any:
    rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    reward = tf.constant(1.0)
    for step in tf.range(100):
        reward = reward * 1.5
        rewards = rewards.write(step, reward)
        if reward > limit:
            break
    return rewards.stack()


@tf.function
def gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        rows = tf.TensorArray(tf.float32, size=1, dynamic_size=True)  # grows beyond its size
        for i in tf.range(3):
            rows = rows.write(i, x * tf.cast(i, tf.float32))
        loss = tf.reduce_sum(rows.stack() ** 2)
    return tape.gradient(loss, x)


@pytest.mark.slow
def test_arrays_grow_with_loops() -> None:
    with pytest.warns(UserWarning, match=r"smooth is not compiled.*number of rows of a tf.TensorArray"):
        np.testing.assert_allclose(smooth(tf.range(4.0), tf.constant(0.5)), [0.0, 0.5, 1.25, 2.125])
    with pytest.warns(UserWarning, match="run_episode is not compiled"):
        np.testing.assert_allclose(run_episode(tf.constant(3.0)), [1.5, 2.25, 3.375])
    assert run_episode(tf.constant(1.0)).shape == (1,)
    with pytest.warns(UserWarning, match="gradient is not compiled"):
        assert float(gradient(tf.constant(2.0))) == 20.0


def test_replicas_need_the_number_of_rows() -> None:
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    with pytest.raises(ValueError, match=r"tf.TensorArray\(dtype, size=n\), without dynamic_size=True"):
        strategy.run(smooth, args=(tf.range(4.0), tf.constant(0.5)))
