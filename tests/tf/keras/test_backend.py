"""`tf.keras.backend`: functions on tensors by their names in Keras 2."""

import itertools
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import pytest

import unisono.tf as tf

A = np.array([[1.0, -2.0], [3.0, 0.5]], "float32")
B = np.array([[0.5, 2.0], [-1.0, 4.0]], "float32")

CASES: dict[str, tuple[Callable[[], Any], Any]] = {
    "mean": (lambda: tf.keras.backend.mean(A, axis=-1), A.mean(-1)),
    "mean of truth": (lambda: tf.keras.backend.mean(tf.keras.backend.equal(A, 3.0)), 0.25),
    "sum": (lambda: tf.keras.backend.sum(A, axis=0, keepdims=True), A.sum(0, keepdims=True)),
    "max": (lambda: tf.keras.backend.max(A), A.max()),
    "min": (lambda: tf.keras.backend.min(A, axis=1), A.min(1)),
    "prod": (lambda: tf.keras.backend.prod(A), A.prod()),
    "std": (lambda: tf.keras.backend.std(A), A.std()),
    "var": (lambda: tf.keras.backend.var(A), A.var()),
    "any": (lambda: tf.keras.backend.any(A > 2, axis=1), (A > 2).any(1)),
    "all": (lambda: tf.keras.backend.all(A > 2, axis=1), (A > 2).all(1)),
    "logsumexp": (lambda: tf.keras.backend.logsumexp(A), np.log(np.exp(A).sum())),
    "abs": (lambda: tf.keras.backend.abs(A), np.abs(A)),
    "exp": (lambda: tf.keras.backend.exp(A), np.exp(A)),
    "log": (lambda: tf.keras.backend.log(A * A), np.log(A * A)),
    "sqrt": (lambda: tf.keras.backend.sqrt(A), np.sqrt(np.maximum(A, 0))),
    "square": (lambda: tf.keras.backend.square(A), A * A),
    "round": (lambda: tf.keras.backend.round(A), np.round(A)),
    "sign": (lambda: tf.keras.backend.sign(A), np.sign(A)),
    "pow": (lambda: tf.keras.backend.pow(A, 3), A**3),
    "maximum": (lambda: tf.keras.backend.maximum(A, B), np.maximum(A, B)),
    "minimum": (lambda: tf.keras.backend.minimum(A, B), np.minimum(A, B)),
    "greater": (lambda: tf.keras.backend.greater(A, B), A > B),
    "less": (lambda: tf.keras.backend.less(A, B), A < B),
    "clip": (lambda: tf.keras.backend.clip(A, -1, None), np.maximum(A, -1)),
    "cast": (lambda: tf.keras.backend.cast(A, "int32"), A.astype("int32")),
    "argmax": (lambda: tf.keras.backend.argmax(A), A.argmax(-1)),
    "cumsum": (lambda: tf.keras.backend.cumsum(A), A.cumsum(0)),
    "flatten": (lambda: tf.keras.backend.flatten(A), A.reshape(-1)),
    "batch_flatten": (lambda: tf.keras.backend.batch_flatten(A.reshape(1, 2, 2)), A.reshape(1, 4)),
    "reshape": (lambda: tf.keras.backend.reshape(A, (4,)), A.reshape(4)),
    "expand_dims": (lambda: tf.keras.backend.expand_dims(A), A[..., None]),
    "squeeze": (lambda: tf.keras.backend.squeeze(A[None], 0), A),
    "concatenate": (lambda: tf.keras.backend.concatenate([A, B]), np.concatenate([A, B], -1)),
    "stack": (lambda: tf.keras.backend.stack([A, B], axis=1), np.stack([A, B], 1)),
    "tile": (lambda: tf.keras.backend.tile(A, (1, 2)), np.tile(A, (1, 2))),
    "repeat": (lambda: tf.keras.backend.repeat(A, 3), np.repeat(A[:, None], 3, 1)),
    "repeat_elements": (lambda: tf.keras.backend.repeat_elements(A, 2, 0), np.repeat(A, 2, 0)),
    "reverse": (lambda: tf.keras.backend.reverse(A, 1), A[:, ::-1]),
    "permute_dimensions": (lambda: tf.keras.backend.permute_dimensions(A, (1, 0)), A.T),
    "transpose": (lambda: tf.keras.backend.transpose(A), A.T),
    "gather": (lambda: tf.keras.backend.gather(A, [1, 1]), A[[1, 1]]),
    "one_hot": (lambda: tf.keras.backend.one_hot(np.array([1]), 3), [[0, 1, 0]]),
    "dot": (lambda: tf.keras.backend.dot(A, B), A @ B),
    "batch_dot rows": (lambda: tf.keras.backend.batch_dot(A, B, axes=1), (A * B).sum(1, keepdims=True)),
    "batch_dot of matrices": (lambda: tf.keras.backend.batch_dot(A[None], B[None]), (A @ B)[None]),
    "batch_dot of rows by default": (lambda: tf.keras.backend.batch_dot(A, B), (A * B).sum(1, keepdims=True)),
    "batch_dot": (lambda: tf.keras.backend.batch_dot(A[None], B[None], axes=(2, 2)), (A @ B.T)[None]),
    "softmax": (lambda: tf.keras.backend.softmax(A), np.exp(A) / np.exp(A).sum(-1, keepdims=True)),
    "sigmoid": (lambda: tf.keras.backend.sigmoid(A), 1 / (1 + np.exp(-A))),
    "relu": (lambda: tf.keras.backend.relu(A), np.maximum(A, 0)),
    "tanh": (lambda: tf.keras.backend.tanh(A), np.tanh(A)),
    "elu": (lambda: tf.keras.backend.elu(A), np.where(A > 0, A, np.exp(A) - 1)),
    "hard_sigmoid": (lambda: tf.keras.backend.hard_sigmoid(A), np.clip(0.2 * A + 0.5, 0, 1)),
    "l2_normalize": (lambda: tf.keras.backend.l2_normalize(A, axis=1), A / np.linalg.norm(A, axis=1, keepdims=True)),
    "zeros_like": (lambda: tf.keras.backend.zeros_like(A), 0 * A),
    "ones_like": (lambda: tf.keras.backend.ones_like(A, dtype="int32"), np.ones((2, 2), "int32")),
    "eye": (lambda: tf.keras.backend.eye(2), np.eye(2)),
    "constant": (lambda: tf.keras.backend.constant(2, shape=(2,)), [2.0, 2.0]),
    "switch": (lambda: tf.keras.backend.switch(True, lambda: A, lambda: B), A),
    "stop_gradient": (lambda: tf.keras.backend.stop_gradient(A), A),
    "map_fn": (lambda: tf.keras.backend.map_fn(lambda row: row * 2, A), A * 2),
    "int_shape": (lambda: tf.keras.backend.int_shape(A), (2, 2)),
    "ndim": (lambda: tf.keras.backend.ndim(A), 2),
    "count_params": (lambda: tf.keras.backend.count_params(A), 4),
    "cast_to_floatx": (lambda: tf.keras.backend.cast_to_floatx([1, 2]), np.array([1.0, 2.0], "float32")),
    "sin": (lambda: tf.keras.backend.sin(A), np.sin(A)),
    "cos": (lambda: tf.keras.backend.cos(A), np.cos(A)),
    "not_equal": (lambda: tf.keras.backend.not_equal(A, 3.0), A != 3.0),
    "greater_equal": (lambda: tf.keras.backend.greater_equal(A, 3.0), A >= 3.0),
    "less_equal": (lambda: tf.keras.backend.less_equal(A, 0.5), A <= 0.5),
    "argmin": (lambda: tf.keras.backend.argmin(A), A.argmin(-1)),
    "cumprod": (lambda: tf.keras.backend.cumprod(A), A.cumprod(0)),
    "softplus": (lambda: tf.keras.backend.softplus(A), np.log1p(np.exp(A))),
    "softsign": (lambda: tf.keras.backend.softsign(A), A / (1 + np.abs(A))),
    "shape": (lambda: tf.keras.backend.shape(A), (2, 2)),
    "in_top_k": (lambda: tf.keras.backend.in_top_k(A, np.array([0, 1]), 1), [True, False]),
    "in_train_phase": (lambda: tf.keras.backend.in_train_phase(A, B, training=True), A),
    "in_test_phase": (lambda: tf.keras.backend.in_test_phase(lambda: A, B, training=True), B),
    "dtype": (lambda: tf.keras.backend.dtype(A) == "float32", True),
    "is_tensor": (lambda: [tf.keras.backend.is_tensor(tf.constant(A)), tf.keras.backend.is_tensor(1)], [True, False]),
    "is_sparse": (lambda: tf.keras.backend.is_sparse(tf.constant(A)), False),
    "dropout": (lambda: tf.keras.backend.dropout(tf.constant(A), 0.0), A),
    "binary_crossentropy": (
        lambda: tf.keras.backend.binary_crossentropy(np.ones(1, "float32"), np.array([0.25], "float32")),
        [-np.log(0.25)],
    ),
    "categorical_crossentropy": (
        lambda: tf.keras.backend.categorical_crossentropy(
            np.array([[0.0, 1.0]], "float32"), np.array([[0.5, 0.5]], "float32")
        ),
        [np.log(2)],
    ),
    "sparse_categorical_crossentropy": (
        lambda: tf.keras.backend.sparse_categorical_crossentropy(
            np.array([1]), np.array([[0.5, 0.5]], "float32"), from_logits=False
        ),
        [np.log(2)],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_function_gives_what_its_name_says(name: str) -> None:
    call, wanted = CASES[name]
    np.testing.assert_allclose(np.asarray(call()), wanted, rtol=1e-5, atol=1e-6)


def test_variables_are_read_and_set() -> None:
    counter = tf.keras.backend.variable(1.5, name="counter")
    tf.keras.backend.update_add(counter, 2.0)
    tf.keras.backend.update_sub(counter, 1.0)
    assert tf.keras.backend.get_value(counter) == 2.5
    tf.keras.backend.set_value(counter, 7.0)
    assert tf.keras.backend.eval(counter) == 7.0
    tf.keras.backend.batch_set_value([(counter, 1.0)])
    assert tf.keras.backend.batch_get_value([counter]) == [1.0]
    tf.keras.backend.update(counter, 0.5)
    assert counter.numpy() == 0.5
    tf.keras.backend.moving_average_update(counter, 1.5, 0.75)
    assert counter.numpy() == 0.75
    tf.keras.backend.manual_variable_initialization(True)
    assert tf.keras.backend.zeros((2,)).numpy().tolist() == [0.0, 0.0]
    assert tf.keras.backend.ones((1,), dtype="int32").numpy().tolist() == [1]


@pytest.mark.full
def test_random_numbers_are_of_their_distribution() -> None:
    assert float(tf.keras.backend.random_normal((1000,), mean=5.0, seed=1).mean()) == pytest.approx(5.0, abs=0.2)
    uniform = np.asarray(tf.keras.backend.random_uniform((1000,), 2.0, 3.0, seed=1))
    assert 2.0 <= uniform.min() < 2.1 < 2.9 < uniform.max() <= 3.0
    assert np.abs(tf.keras.backend.truncated_normal((1000,), seed=1)).max() <= 2.0
    assert float(tf.keras.backend.random_bernoulli((1000,), 0.25, seed=1).mean()) == pytest.approx(0.25, abs=0.05)


def test_a_loss_of_backend_functions_is_part_of_a_model() -> None:
    inputs = tf.keras.Input((2,))
    outputs = tf.keras.layers.Lambda(lambda x: tf.keras.backend.sum(tf.keras.backend.square(x), axis=-1))(inputs)
    model = tf.keras.Model(inputs, tf.keras.backend.expand_dims(outputs))
    np.testing.assert_allclose(model(A), (A * A).sum(-1, keepdims=True), rtol=1e-6)


def test_settings_are_those_of_keras() -> None:
    assert tf.keras.backend.floatx() == "float32"
    assert tf.keras.backend.epsilon() == pytest.approx(1e-7)
    assert tf.keras.backend.image_data_format() == "channels_last"
    assert tf.keras.backend.backend() == "jax"
    assert tf.keras.backend.is_keras_tensor(keras.Input((1,)))
    tf.keras.backend.clear_session()


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda: tf.keras.backend.learning_phase(), "training"),
        (lambda: tf.keras.backend.set_learning_phase(1), "training=True"),
        (lambda: tf.keras.backend.learning_phase_scope(1), "training=True"),
        (lambda: tf.keras.backend.in_train_phase(A, B), "training"),
        (lambda: tf.keras.backend.gradients(None, []), "GradientTape"),
        (lambda: tf.keras.backend.function([], [], updates=[1]), r"tf\.function"),
        (lambda: tf.keras.backend.placeholder((1,)), r"tf\.keras\.Input"),
        (lambda: tf.keras.backend.get_session(), "numpy"),
    ],
)
def test_what_belongs_to_graphs_says_what_to_use(call: Callable[[], Any], instead: str) -> None:
    with pytest.raises(NotImplementedError, match=instead):
        call()


def test_a_function_of_tensors_gives_what_is_inside_of_a_model() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(1)])
    rows = np.ones((4, 3), "float32")
    inside = tf.keras.backend.function([model.input], [model.layers[0].output])([rows])
    assert type(inside) is list
    assert type(inside[0]) is np.ndarray
    np.testing.assert_allclose(inside[0], model.layers[0](rows), rtol=1e-6)
    both = tf.keras.backend.function(model.input, [model.layers[0].output, model.output])(rows)
    np.testing.assert_allclose(both[1], model(rows), rtol=1e-6)
    assert tf.keras.backend.function([model.input], model.output)([rows]).shape == (4, 1)


def _collapse(path: tuple[int, ...], blank: int) -> tuple[int, ...]:
    return tuple(label for label, _ in itertools.groupby(path) if label != blank)


@pytest.mark.full
def test_the_loss_of_ctc_sums_over_all_alignments_and_decoding_returns_the_most_probable() -> None:
    steps, blank = 3, 2
    probabilities = np.array([[[0.6, 0.1, 0.3], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]], "float32")
    labels = np.array([[0, 1]])
    alignments = [path for path in itertools.product(range(3), repeat=steps) if _collapse(path, blank) == (0, 1)]
    total = sum(np.prod([probabilities[0, step, label] for step, label in enumerate(path)]) for path in alignments)
    lengths = np.array([[steps]]), np.array([[2]])
    loss = tf.keras.backend.ctc_batch_cost(labels, probabilities, *lengths)
    assert loss.shape == (1, 1)
    np.testing.assert_allclose(loss[0, 0], -np.log(total), rtol=1e-4)
    decoded, log_probability = tf.keras.backend.ctc_decode(probabilities, input_length=np.ones(1) * steps)
    np.testing.assert_array_equal(decoded[0], [[0, 1]])
    np.testing.assert_allclose(log_probability[0], -np.log(0.6 * 0.5 * 0.7), rtol=1e-4)
    paths, _ = tf.keras.backend.ctc_decode(probabilities, [steps], greedy=False, beam_width=5, top_paths=2)
    assert len(paths) == 2
    np.testing.assert_array_equal(paths[0], [[0, 1]])
