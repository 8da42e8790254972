"""`tf.boolean_mask` and `tf.where(condition)` in functions: reductions are compiled, the rest runs on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

X = np.array([[1.0, 2.0], [3.0, -4.0], [0.0, 0.0], [5.0, 6.0]], "float32")
MASK = np.array([True, True, False, True])

REDUCED = {
    "sum": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, m)),
    "mean": lambda x, m: tf.reduce_mean(tf.boolean_mask(x, m), axis=0),
    "max": lambda x, m: tf.reduce_max(tf.boolean_mask(x, m), axis=0, keepdims=True),
    "min": lambda x, m: tf.reduce_min(tf.boolean_mask(tf.cast(x, tf.int32), m)),
    "std": lambda x, m: tf.math.reduce_std(tf.boolean_mask(x, m)),
    "variance": lambda x, m: tf.math.reduce_variance(tf.boolean_mask(x, m), 0),
    "product": lambda x, m: tf.reduce_prod(tf.boolean_mask(x, m)),
    "any": lambda x, m: tf.reduce_any(tf.boolean_mask(x, m) > 5.5, 0),
    "all": lambda x, m: tf.reduce_all(tf.boolean_mask(x, m) != 0.0),
    "logsumexp": lambda x, m: tf.reduce_logsumexp(tf.boolean_mask(x, m)),
    "size": lambda x, m: [tf.size(tf.boolean_mask(x, m)), tf.rank(tf.boolean_mask(x, m))],
    "shape": lambda x, m: tf.shape(tf.boolean_mask(x, m)),
    "elements": lambda x, m: tf.reduce_sum(tf.abs(1.0 - 2.0 * tf.boolean_mask(x, m)) ** 2 / [1.0, 3.0]),
    "two": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, m) * tf.exp(-tf.boolean_mask(x[:, ::-1], m))),
    "two masks": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, x[:, 0] > 1) - tf.boolean_mask(x * x, x[:, 0] > 1)),
    "unary": lambda x, m: tf.reduce_sum(abs(-tf.boolean_mask(x, m))),
    "rows": lambda x, m: tf.reduce_sum(tf.reduce_max(tf.nn.softmax(tf.boolean_mask(x, m)), axis=-1)),
    "columns": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, m)[:, 1]) + tf.reduce_sum(tf.boolean_mask(x, m)[..., :1]),
    "flat": lambda x, m: tf.reduce_mean(tf.reshape(tf.boolean_mask(x, m), [-1])),
    "reshaped": lambda x, m: tf.reduce_sum(tf.reshape(tf.boolean_mask(x, m), [-1, 2, 1]), axis=[0, 1]),
    "matmul": lambda x, m: tf.reduce_sum(tf.matmul(tf.boolean_mask(x, m), tf.ones([2, 3])), 0),
    "argmax": lambda x, m: tf.reduce_sum(tf.argmax(tf.boolean_mask(x, m), axis=1)),
    "cross entropy": lambda x, m: tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.boolean_mask(tf.constant([1, 0, 1, 1]), m), logits=tf.boolean_mask(x, m)
        )
    ),
    "of rows by position": lambda x, m: [
        tf.reduce_sum(tf.nn.softmax(tf.boolean_mask(x, m), 1) * [1.0, 3.0], np.int64(0)),
        tf.reduce_sum(tf.nn.log_softmax(tf.boolean_mask(x, m), -1) * [1.0, 3.0], [np.int64(0)]),
        tf.reduce_sum(tf.math.l2_normalize(tf.boolean_mask(x, m), 1) * [1.0, 3.0]),
        tf.reduce_sum(tf.math.l2_normalize(tf.boolean_mask(x, m), dim=[-1]) * [1.0, 3.0], keepdims=True, axis=[-2]),
        tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(tf.boolean_mask(x, m), tf.boolean_mask(x + 1, m), 1)),
        tf.reduce_sum(input_tensor=tf.boolean_mask(x, m), axis=0),
    ],
    "one_hot": lambda x, m: [
        tf.reduce_sum(tf.one_hot(tf.boolean_mask(tf.cast(x, tf.int32), m), 4, axis=axis), 0) for axis in (None, -1, 1)
    ],
    "matrices": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, m) @ tf.ones([2, 3]), 0),
    "reshaped by an array": lambda x, m: tf.reduce_sum(tf.reshape(tf.boolean_mask(x, m), np.array([-1])), 0),
    "all dims": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, x > 1)),
    "indices": lambda x, m: tf.reduce_sum(tf.where(x > 1), axis=0),
    "gather_nd": lambda x, m: _distance(x, tf.where(x > 1)),
    "gather": lambda x, m: tf.reduce_sum(tf.gather(x, tf.where(m)[:, 0])),
    "number": lambda x, m: tf.maximum(tf.shape(tf.where(x > 1))[0], 1),
    "none": lambda x, m: [tf.reduce_sum(tf.boolean_mask(x, x > 100)), tf.reduce_max(tf.boolean_mask(x, x > 100))],
}


def _distance(x: Any, indices: Any) -> Any:
    return tf.reduce_mean(tf.abs(tf.gather_nd(x, indices) - tf.gather_nd(x * 2.0, indices)))


@pytest.mark.slow
@pytest.mark.parametrize("name", REDUCED)
def test_reductions_of_selected_rows_are_compiled(name: str) -> None:
    function = tf.function(REDUCED[name])  # running on the host would be a warning, and so an error
    for x, mask in ((X, MASK), (X[::-1], ~MASK)):
        expected = REDUCED[name](tf.constant(x), tf.constant(mask))
        results = function(tf.constant(x), tf.constant(mask))
        for result, each in zip(tf.nest.flatten(results), tf.nest.flatten(expected), strict=True):
            assert result.dtype == each.dtype
            np.testing.assert_allclose(result, each, rtol=1e-5)


def test_the_mean_of_no_rows_is_nan_as_in_tensorflow() -> None:
    assert np.isnan(tf.function(lambda x: tf.reduce_mean(tf.boolean_mask(x, x > 100)))(tf.constant(X)))


ON_HOST = {
    "rows": lambda x, m: tf.boolean_mask(x, m),
    "indices": lambda x, m: tf.where(x > 1),
    "columns": lambda x, m: tf.boolean_mask(x, m[:2], axis=1),
    "sorted": lambda x, m: tf.sort(tf.boolean_mask(x, m), axis=0),
    "concat": lambda x, m: tf.concat([tf.boolean_mask(x, m), x], 0),
    "first": lambda x, m: tf.boolean_mask(x, m)[0],
    "other mask": lambda x, m: tf.boolean_mask(x, m) * tf.boolean_mask(x, x[:, 1] != x[2, 1]),
    "softmax": lambda x, m: tf.reduce_sum(tf.nn.softmax(tf.boolean_mask(x, m), 0) ** 2),
    "softmax of a negative axis": lambda x, m: tf.reduce_sum(tf.nn.softmax(tf.boolean_mask(x, m), axis=-2) ** 2),
    "log_softmax": lambda x, m: tf.reduce_sum(tf.nn.log_softmax(tf.boolean_mask(x, m), 0)),
    "softmax of a vector": lambda x, m: tf.reduce_sum(tf.nn.softmax(tf.boolean_mask(x[:, 0], m)) ** 2),
    "norm of all": lambda x, m: tf.reduce_sum(tf.math.l2_normalize(tf.boolean_mask(x, m))),
    "norm of rows": lambda x, m: tf.reduce_sum(tf.math.l2_normalize(tf.boolean_mask(x, m), 0)),
    "norm of both": lambda x, m: tf.reduce_sum(tf.math.l2_normalize(tf.boolean_mask(x, m), [0, 1])),
    "norm of dim": lambda x, m: tf.reduce_sum(tf.math.l2_normalize(tf.boolean_mask(x, m), dim=0)),
    "one_hot": lambda x, m: tf.reduce_sum(tf.one_hot(tf.cast(tf.boolean_mask(x[:, 0], m), tf.int32), 4, axis=0), 0),
    "an axis that is a tensor": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, m), tf.constant(0)),
    "cross entropy": lambda x, m: tf.reduce_sum(
        tf.nn.softmax_cross_entropy_with_logits(tf.boolean_mask(x, m), tf.boolean_mask(x, m), axis=0)
    ),
    "cross entropy of a vector": lambda x, m: tf.reduce_sum(
        tf.nn.softmax_cross_entropy_with_logits(tf.boolean_mask(x[:, 0], m), tf.boolean_mask(x[:, 0], m))
    ),
    "transposed": lambda x, m: tf.reduce_sum(tf.matmul(tf.boolean_mask(x, m), tf.ones([3, 2]), True), 0),
    "batches": lambda x, m: tf.reduce_sum(tf.matmul(tf.boolean_mask(x, m), tf.ones([1, 2, 2])), 0),
    "outer": lambda x, m: tf.reduce_sum(tf.boolean_mask(x[:, :1], m) * tf.boolean_mask(x[:, 0], m), 0),
    "more dims": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, m) + tf.ones([1, 1, 2]), 0),
    "rows in a list": lambda x, m: tf.reduce_sum(tf.boolean_mask(x, m) * [[1.0], [2.0], [3.0]], 0),
    "where of them": lambda x, m: tf.reduce_sum(tf.where(tf.boolean_mask(x, m) > 0), 0),
    "to a number": lambda x, m: tf.reshape(tf.boolean_mask(x, x == tf.reduce_max(x)), []),
    "own rows": lambda x, m: tf.boolean_mask(x, m) - tf.ones([3, 2]),
    "keras": lambda x, m: tf.keras.ops.relu(tf.boolean_mask(x, m)),
    "scatter": lambda x, m: tf.tensor_scatter_nd_update(x, tf.where(x > 1), tf.zeros([tf.shape(tf.where(x > 1))[0]])),
    "in a branch": lambda x, m: tf.cond(tf.reduce_sum(x) > 0, lambda: tf.boolean_mask(x, m), lambda: x),
}


@pytest.mark.parametrize("name", ON_HOST)
def test_whatever_else_is_done_with_selected_rows_runs_on_the_host(name: str) -> None:
    function, x, mask = tf.function(ON_HOST[name]), tf.constant(X), tf.constant(MASK)
    with pytest.warns(UserWarning, match="runs on the host, line by line"):
        np.testing.assert_allclose(function(x, mask), ON_HOST[name](x, mask))
    assert function.experimental_get_tracing_count() == 1
    np.testing.assert_allclose(function(x + 1, mask), ON_HOST[name](x + 1, mask))  # no second warning


def test_rows_that_are_not_selected_do_not_spoil_the_gradient() -> None:
    @tf.function
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_mean(tf.math.log(tf.boolean_mask(x, x > 0)))
        return tape.gradient(loss, x)

    np.testing.assert_allclose(gradient(tf.constant([1.0, 0.0, 2.0])), [0.5, 0.0, 0.25])
    np.testing.assert_allclose(gradient(tf.constant([-1.0, 0.0, -2.0])), [0.0, 0.0, 0.0])


@pytest.mark.parametrize("devices", [1, 2])
def test_replicas_reduce_the_rows_that_they_select(devices: int) -> None:
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(devices)])

    @tf.function
    def total(x: Any) -> Any:
        return strategy.run(lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0)), args=(x,))

    (batch,) = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(X).batch(4))
    assert float(strategy.reduce("SUM", total(batch), axis=None)) == 17.0
    if devices == 2:
        with pytest.raises(ValueError, match=r"tf.boolean_mask inside a compiled function(.|\n)*tf.reduce_sum"):
            strategy.run(lambda x: tf.boolean_mask(x, x > 0), args=(batch,))


def test_maps_select_rows() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(X)
    assert [x.tolist() for x in dataset.map(lambda x: tf.boolean_mask(x, x > 1)).take(2)] == [[2.0], [3.0]]
    assert [float(x) for x in dataset.map(lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 1)))] == [2, 3, 0, 11]


@pytest.mark.slow
def test_a_masked_loss_trains_in_fit_as_one_that_is_written_with_where() -> None:
    y = np.array([[1.0], [-1.0], [2.0], [-1.0]], "float32")

    def masked(y: Any, p: Any) -> Any:
        return tf.reduce_mean(tf.square(tf.boolean_mask(y, y >= 0) - tf.boolean_mask(p, y >= 0)))

    def same_mask(y: Any, p: Any) -> Any:
        keep = y >= 0
        return tf.reduce_mean(tf.square(tf.boolean_mask(y, keep) - tf.boolean_mask(p, keep)))

    def by_hand(y: Any, p: Any) -> Any:
        keep = tf.cast(y >= 0, tf.float32)
        return tf.reduce_sum(keep * tf.square(y - p)) / tf.reduce_sum(keep)

    def train(loss: Any) -> Any:
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile(tf.keras.optimizers.SGD(0.1), loss)
        model.fit(X, y, batch_size=4, epochs=2, verbose=0)
        return model.get_weights()[0]

    expected = train(by_hand)
    np.testing.assert_allclose(train(same_mask), expected, rtol=1e-5)
    np.testing.assert_allclose(train(masked), expected, rtol=1e-5)
