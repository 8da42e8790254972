"""`tf.experimental.numpy` against NumPy, with lists, arrays, tensors and variables."""

import numpy as np
import pytest

import unisono.tf as tf

tnp = tf.experimental.numpy

CALLS = [
    lambda xp: xp.sum([1, 2, 3]),
    lambda xp: xp.mean([[1.0, 2.0], [3.0, 5.0]], axis=0),
    lambda xp: xp.add([1, 2], [3, 4]),
    lambda xp: xp.concatenate([[1, 2], [3]], axis=0),
    lambda xp: xp.stack([[1, 2], [3, 4]], axis=1),
    lambda xp: xp.vstack(([1, 2], [3, 4])),
    lambda xp: xp.where([True, False], [1, 2], [3, 4]),
    lambda xp: xp.reshape([1, 2, 3, 4], (2, 2)),
    lambda xp: xp.transpose([[1, 2], [3, 4]]),
    lambda xp: xp.matmul([[1, 2]], [[3], [4]]),
    lambda xp: xp.einsum("ij,jk", [[1, 2]], [[3], [4]]),
    lambda xp: xp.tensordot([[1, 2]], [[3], [4]], axes=1),
    lambda xp: xp.argmax([[1, 5, 2]], axis=1),
    lambda xp: xp.sort([3, 1, 2]),
    lambda xp: xp.clip([1, 5, 9], 2, 6),
    lambda xp: xp.take([10, 20, 30], [2, 0]),
    lambda xp: xp.pad([1, 2], (1, 1)),
    lambda xp: xp.tile([1, 2], 2),
    lambda xp: xp.moveaxis(np.zeros((2, 3, 4)), 0, -1),
    lambda xp: xp.cumsum([1, 2, 3]),
    lambda xp: xp.outer([1, 2], [3, 4]),
    lambda xp: xp.logical_and([True, False], [True, True]),
    lambda xp: xp.maximum([1, 5], [3, 2]),
    lambda xp: xp.full([2, 2], 7),
    lambda xp: xp.arange(2, 8, 3),
    lambda xp: xp.select([[True, False]], [[1, 2]], 9),
    lambda xp: xp.meshgrid([1, 2], [3, 4])[1],
    lambda xp: xp.diff([1, 4, 9]),
    lambda xp: xp.average([1.0, 3.0], weights=[3.0, 1.0]),
    lambda xp: xp.broadcast_to([1, 2], (2, 2)),
]


@pytest.mark.parametrize("call", CALLS)
def test_functions_give_what_numpy_gives(call) -> None:
    found = call(tnp)
    assert isinstance(found, tnp.ndarray)
    np.testing.assert_allclose(found, call(np))


def test_tensors_variables_and_operators_mix() -> None:
    tnp.experimental_enable_numpy_behavior(prefer_float32=True)
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert float(tnp.sum(x)) == 10
    assert (tnp.ones((2, 2)) @ tf.constant([[1.0], [2.0]])).tolist() == [[3], [3]]
    assert tf.constant([[1, 2]]).T.reshape(-1).astype(tnp.float32).dtype == tf.float32
    with tf.GradientTape() as tape:
        loss = tnp.sum(tnp.square(x))
    assert tape.gradient(loss, x).tolist() == [[2, 4], [6, 8]]
    assert tf.function(lambda a: tnp.dot(a, [1.0, 1.0]))(tf.constant([1.0, 2.0])).numpy() == 3
    assert tnp.fix([1.7, -1.7]).tolist() == [1, -1]
    assert tnp.asanyarray([1]).tolist() == [1]
    assert tnp.pi == np.pi
    assert tnp.newaxis is None
    with pytest.raises(TypeError):
        tnp.sum([1], nothing=2)
    with pytest.raises(ValueError, match="Expected one of off, legacy"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="some")


@pytest.mark.full
def test_random_numbers_have_numpys_names() -> None:
    tnp.random.seed(1)
    first = tnp.random.randn(2, 3)
    tnp.random.seed(1)
    assert tnp.random.randn(2, 3).tolist() == first.tolist()
    assert tnp.random.standard_normal((2,)).shape == tnp.random.normal(1.0, 2.0, 2).shape == (2,)
    assert tnp.random.rand(3).shape == tnp.random.random(3).shape == tnp.random.uniform(1, 2, (3,)).shape == (3,)
    assert set(tnp.random.randint(3, size=50).tolist()) == {0, 1, 2}
    assert tnp.random.poisson(3.0, 4).shape == (4,)
    with pytest.raises(AttributeError, match=r"tf\.experimental\.numpy\.random\.nothing is not available"):
        _ = tnp.random.nothing


def test_a_tuple_of_bools_chooses_as_in_numpy() -> None:
    numbers = np.arange(24).reshape(2, 3, 4)
    x = tnp.asarray(numbers)
    for key in ((slice(None), (True, False, True)), ((True, False),), (1, (0, 0, 1), np.array([0, 1, 1]))):
        np.testing.assert_array_equal(x[key], numbers[key])
        np.testing.assert_array_equal(tf.function(lambda x, key=key: x[key])(x), numbers[key])
    with pytest.raises(IndexError, match="boolean index did not match"):
        x[:, (True, False)]
