"""guide/random_numbers: Random number generation."""

from pathlib import Path

import numpy as np
import pytest

import unisono.tf as tf


def test_generators() -> None:
    """from_seed with alg, from_non_deterministic_state, from_state; key, state, split, reset"""
    g1 = tf.random.Generator.from_seed(1)
    assert g1.normal(shape=[2, 3]).shape == (2, 3)
    assert tf.random.get_global_generator().normal(shape=[2]).shape == (2,)
    with_alg = tf.random.Generator.from_seed(1, alg="philox")
    assert with_alg.uniform([2]).shape == (2,)
    assert tf.random.Generator.from_non_deterministic_state().normal([2]).dtype == tf.float32
    copy = tf.random.Generator.from_state(g1.state, alg=g1.algorithm)
    np.testing.assert_array_equal(copy.normal([3]), tf.random.Generator.from_state(g1.state, g1.algorithm).normal([3]))
    children = g1.split(3)
    draws = [tuple(np.asarray(each.normal([2]))) for each in children]
    assert len(set(draws)) == 3
    g1.reset_from_seed(5)
    first = g1.normal([2]).numpy()
    g1.reset_from_seed(5)
    np.testing.assert_array_equal(g1.normal([2]).numpy(), first)
    g1.reset_from_key_counter(g1.key, [0, 0])
    assert g1.uniform_full_int([2], dtype=tf.int32).dtype == tf.int32


def test_in_functions() -> None:
    """a generator created outside a function, one created inside in its first call, one as an argument"""
    g = tf.random.Generator.from_seed(1)

    @tf.function
    def foo() -> tf.Tensor:
        return g.normal([])

    assert float(foo()) != float(foo())
    made = []

    @tf.function
    def bar() -> tf.Tensor:
        if not made:
            made.append(tf.random.Generator.from_seed(1))
        return made[0].normal([])

    assert float(bar()) != float(bar())

    @tf.function
    def baz(generator: tf.random.Generator) -> tf.Tensor:
        return generator.normal([])

    assert float(baz(tf.random.Generator.from_seed(1))) == float(tf.random.Generator.from_seed(1).normal([]))


def test_with_strategies() -> None:
    """a generator of the scope gives each replica its own numbers; so does one created in the function of run"""
    strategy = tf.distribute.MirroredStrategy(devices=["cpu:0", "cpu:1"])
    with strategy.scope():
        g = tf.random.Generator.from_seed(1)
    results = strategy.run(lambda: g.normal([]))
    a, b = (float(value) for value in strategy.experimental_local_results(results))
    assert a != b

    def draw() -> tf.Tensor:
        inner = tf.random.Generator.from_seed(1)
        return tf.stack([inner.normal([]), inner.normal([])])

    for function in (draw, tf.function(draw)):
        runs = [strategy.experimental_local_results(strategy.run(function)) for _ in range(2)]
        assert [float(value[0]) for value in runs[0]] == [a, b]
        assert len({float(number) for value in runs[0] for number in value}) == 4
        np.testing.assert_array_equal(runs[0], runs[1])


def test_saved_and_restored(tmp_path: Path) -> None:
    """a generator in a Checkpoint"""
    g = tf.random.Generator.from_seed(1)
    cp = tf.train.Checkpoint(generator=g)
    g.normal([])
    path = cp.write(str(tmp_path / "ckpt"))
    after = [float(g.normal([])) for _ in range(2)]
    cp.restore(path)
    assert [float(g.normal([])) for _ in range(2)] == after


def test_stateless() -> None:
    """stateless_normal and others are functions of their seed; split and fold_in; global seed"""
    a, b = (tf.random.stateless_normal(shape=[2, 3], seed=[1, 2]) for _ in range(2))
    np.testing.assert_array_equal(a, b)
    seeds = tf.random.split([1, 2], num=2)
    assert seeds.shape == (2, 2)
    assert tf.random.fold_in([1, 2], 5).shape == (2,)
    tf.random.set_seed(7)
    first = tf.random.uniform([3]).numpy()
    tf.random.set_seed(7)
    np.testing.assert_array_equal(tf.random.uniform([3]).numpy(), first)
    assert tf.random.Algorithm.PHILOX is not None
    with pytest.raises((ValueError, TypeError)):
        tf.random.stateless_normal(shape=[2], seed=[1, 2, 3])
