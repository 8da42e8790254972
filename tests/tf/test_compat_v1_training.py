"""`tf.compat.v1.train` and `losses` in eager style, against TensorFlow 1's formulas in NumPy."""

import keras
import numpy as np
import pytest

import unisono.tf as tf

v1 = tf.compat.v1
RATE = 0.1
TARGET = np.array([1.0, -2.0], "float32")


def _momentum(gradients, nesterov=False):
    total = np.zeros(2)
    for gradient in gradients:
        total = 0.9 * total + gradient
        yield RATE * (gradient + 0.9 * total if nesterov else total)


def _adam(gradients):
    m = v = np.zeros(2)
    for step, gradient in enumerate(gradients, 1):
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        yield RATE * np.sqrt(1 - 0.999**step) / (1 - 0.9**step) * m / (np.sqrt(v) + 1e-8)


def _rmsprop(gradients):
    mean, total = np.ones(2), np.zeros(2)
    for gradient in gradients:
        mean = 0.9 * mean + 0.1 * gradient**2
        total = 0.5 * total + RATE * gradient / np.sqrt(mean + 1e-10)
        yield total


def _adagrad(gradients):
    total = np.full(2, 0.1)
    for gradient in gradients:
        total = total + gradient**2
        yield RATE * gradient / np.sqrt(total)


def _adadelta(gradients):
    squares = changes = np.zeros(2)
    for gradient in gradients:
        squares = 0.95 * squares + 0.05 * gradient**2
        change = np.sqrt(changes + 1e-8) / np.sqrt(squares + 1e-8) * gradient
        changes = 0.95 * changes + 0.05 * change**2
        yield RATE * change


@pytest.mark.parametrize(
    ("make", "changes"),
    [
        (lambda: v1.train.GradientDescentOptimizer(RATE), lambda g: (RATE * each for each in g)),
        (lambda: v1.train.MomentumOptimizer(RATE, 0.9), _momentum),
        (lambda: v1.train.MomentumOptimizer(RATE, 0.9, use_nesterov=True), lambda g: _momentum(g, True)),
        (lambda: v1.train.AdamOptimizer(tf.constant(RATE)), _adam),
        (lambda: v1.train.RMSPropOptimizer(RATE, momentum=0.5), _rmsprop),
        (lambda: v1.train.AdagradOptimizer(RATE), _adagrad),
        (lambda: v1.train.AdadeltaOptimizer(RATE), _adadelta),
    ],
)
def test_steps_are_those_of_tensorflow_1(make, changes) -> None:
    optimizer, w = make(), tf.Variable([0.5, 0.5])
    expected, gradients, w_ = [], [], np.array([0.5, 0.5])
    for _ in range(3):
        gradients.append(2 * (w_ - TARGET))
        w_ = w_ - list(changes(gradients))[-1]
        expected.append(w_)
    for after in expected:
        optimizer.minimize(lambda: tf.reduce_sum((w - TARGET) ** 2))
        np.testing.assert_allclose(w.numpy(), after, rtol=2e-5)
    assert isinstance(optimizer, v1.train.Optimizer)
    again = type(optimizer).from_config(optimizer.get_config())
    assert again.get_config() == optimizer.get_config()


def test_gradients_are_applied_and_the_global_step_is_counted() -> None:
    w, unused = tf.Variable(3.0), tf.Variable(1.0)
    step = v1.train.get_or_create_global_step()
    assert v1.train.get_global_step() is v1.train.get_or_create_global_step() is step
    with pytest.raises(ValueError, match="there is one already"):
        v1.train.create_global_step()
    before = int(step)
    optimizer = v1.train.FtrlOptimizer(RATE)
    pairs = optimizer.compute_gradients(lambda: w * w, [w, unused])
    assert float(pairs[0][0]) == 6
    assert pairs[1][0] is None
    optimizer.apply_gradients(pairs, global_step=step)
    assert int(step) == before + 1
    assert w.numpy() < 3
    assert unused.numpy() == 1
    with pytest.raises(RuntimeError, match="Pass a function without arguments"):
        optimizer.minimize(w * w)
    with pytest.raises(ValueError, match="no variable has a gradient"):
        optimizer.apply_gradients([(None, w)])


def test_a_step_is_the_same_inside_of_a_function() -> None:
    def train(wrap) -> list[float]:
        w, optimizer = tf.Variable(3.0), v1.train.MomentumOptimizer(RATE, 0.9)
        step = wrap(lambda: optimizer.minimize(lambda: w * w, var_list=[w]))
        return [(step(), float(w.numpy()))[1] for _ in range(3)]

    np.testing.assert_allclose(train(tf.function), train(lambda each: each), rtol=1e-6)


def test_keras_models_take_these_optimizers() -> None:
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile(v1.train.GradientDescentOptimizer(0.5), "mse")
    model.fit(np.ones((2, 1)), np.zeros((2, 1)), batch_size=2, verbose=0)
    np.testing.assert_allclose(model.get_weights()[0], [[0.0]], atol=1e-6)


@pytest.mark.parametrize(
    ("decay", "expected"),
    [
        (lambda step: v1.train.exponential_decay(1.0, step, 2, 0.25), 0.25**0.5),
        (lambda step: v1.train.exponential_decay(1.0, step, 2, 0.25, staircase=True), 1.0),
        (lambda step: v1.train.natural_exp_decay(1.0, step, 2, 1.0), np.exp(-0.5)),
        (lambda step: v1.train.inverse_time_decay(1.0, step, 2, 1.0), 1 / 1.5),
        (lambda step: v1.train.polynomial_decay(1.0, step, 2, 0.0), 0.5),
        (lambda step: v1.train.cosine_decay(1.0, step, 2), 0.5),
        (lambda step: v1.train.piecewise_constant(step, [0, 5], [1.0, 0.3, 0.1]), 0.3),
    ],
)
def test_learning_rates_follow_the_step(decay, expected: float) -> None:
    step = tf.Variable(0, dtype=tf.int64)
    rate = decay(step)
    assert float(rate()) == 1.0
    w, optimizer = tf.Variable(0.0), v1.train.GradientDescentOptimizer(rate)
    optimizer.minimize(lambda: 1.0 * w, global_step=step)
    assert w.numpy() == -1
    np.testing.assert_allclose(float(rate()), expected, rtol=1e-6)


LABELS, SCORES = np.array([[1.0, 0.0], [0.0, 1.0]], "float32"), np.array([[2.0, -1.0], [0.5, 0.25]], "float32")
LOG_SOFTMAX = SCORES - np.log(np.exp(SCORES).sum(1, keepdims=True))
SIGMOID = 1 / (1 + np.exp(-SCORES))


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (v1.losses.mean_squared_error, (LABELS - SCORES) ** 2),
        (v1.losses.absolute_difference, abs(LABELS - SCORES)),
        (
            v1.losses.huber_loss,
            np.where(abs(LABELS - SCORES) <= 1, (LABELS - SCORES) ** 2 / 2, abs(LABELS - SCORES) - 0.5),
        ),
        (v1.losses.hinge_loss, np.maximum(0, 1 - (2 * LABELS - 1) * SCORES)),
        (v1.losses.softmax_cross_entropy, -(LABELS * LOG_SOFTMAX).sum(1)),
        (v1.losses.sigmoid_cross_entropy, -LABELS * np.log(SIGMOID) - (1 - LABELS) * np.log(1 - SIGMOID)),
        (lambda y, x, **k: v1.losses.sparse_softmax_cross_entropy([0, 1], x, **k), -(LABELS * LOG_SOFTMAX).sum(1)),
        (
            lambda y, x, **k: v1.losses.log_loss(y, SIGMOID, epsilon=0, **k),
            -np.log(np.where(LABELS, SIGMOID, 1 - SIGMOID)),
        ),
        (lambda y, x, **k: v1.losses.cosine_distance(y, x, 1, **k), 1 - (LABELS * SCORES).sum(1, keepdims=True)),
    ],
)
def test_losses_are_weighted_means(loss, expected) -> None:
    np.testing.assert_allclose(loss(LABELS, SCORES), expected.mean(), rtol=1e-5)
    weights = np.array([[2.0], [0.0]], "float32")[: len(expected)]
    if expected.ndim == 1:
        weights = weights[:, 0]
    np.testing.assert_allclose(loss(LABELS, SCORES, weights=weights), 2 * expected[0].mean(), rtol=1e-5)
    none = loss(LABELS, SCORES, reduction=v1.losses.Reduction.NONE)
    np.testing.assert_allclose(none, expected, rtol=1e-5)
    np.testing.assert_allclose(loss(LABELS, SCORES, reduction=v1.losses.Reduction.SUM), expected.sum(), rtol=1e-5)


def test_losses_say_what_is_wrong() -> None:
    with pytest.raises(ValueError, match="Expected one of"):
        v1.losses.compute_weighted_loss([1.0], reduction="mean")
    with pytest.raises(ValueError, match=r"Expected the same shape"):
        v1.losses.mean_squared_error([1.0], [[1.0]])
    assert float(v1.losses.compute_weighted_loss([1.0], 0.0)) == 0
    with pytest.raises(AttributeError, match=r"model\.losses"):
        _ = v1.losses.get_regularization_losses
