"""Convolutions, pooling, padding, CTC and recurrences of `tf.keras.backend`, against Keras's layers."""

import itertools

import keras
import numpy as np
import pytest

import unisono.tf as tf

K = tf.keras.backend
RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 6, 5, 3)).astype("float32")


def _with_weights(layer, x, *weights):
    layer.build(x.shape)
    layer.set_weights(weights)
    return np.asarray(layer(x))


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_convolutions_and_pools_are_those_of_the_layers(padding: str) -> None:
    kernel = RNG.normal(size=(3, 2, 3, 4)).astype("float32")
    found = K.conv2d(X, kernel, (2, 1), padding)
    np.testing.assert_allclose(
        found, _with_weights(keras.layers.Conv2D(4, (3, 2), (2, 1), padding, use_bias=False), X, kernel), atol=1e-5
    )
    depthwise = RNG.normal(size=(2, 2, 3, 1)).astype("float32")
    layer = keras.layers.DepthwiseConv2D(2, padding=padding, use_bias=False)
    np.testing.assert_allclose(
        K.depthwise_conv2d(X, depthwise, padding=padding), _with_weights(layer, X, depthwise), atol=1e-5
    )
    back = RNG.normal(size=(2, 2, 4, 3)).astype("float32")
    layer = keras.layers.Conv2DTranspose(4, 2, 2, padding, use_bias=False)
    expected = _with_weights(layer, X, back)
    np.testing.assert_allclose(K.conv2d_transpose(X, back, expected.shape, (2, 2), padding), expected, atol=1e-5)
    for mode, layer in (("max", keras.layers.MaxPooling2D), ("avg", keras.layers.AveragePooling2D)):
        np.testing.assert_allclose(
            K.pool2d(X, (2, 2), (1, 1), padding, pool_mode=mode), layer(2, 1, padding)(X), atol=1e-6
        )


def test_other_convolutions_have_the_shapes_of_the_layers() -> None:
    row, kernel = X[:, :, 0], RNG.normal(size=(3, 3, 4)).astype("float32")
    layer = keras.layers.Conv1D(4, 3, padding="causal", dilation_rate=2, use_bias=False)
    found = K.conv1d(row, kernel, padding="causal", dilation_rate=2)
    np.testing.assert_allclose(found, _with_weights(layer, row, kernel), atol=1e-5)
    volume = X[..., None]
    assert K.conv3d(volume, np.ones((2, 2, 2, 1, 4), "float32")).shape == (2, 5, 4, 2, 4)
    assert K.pool3d(volume, (2, 2, 2), (2, 2, 1)).shape == (2, 3, 2, 2, 1)
    assert K.separable_conv2d(X, np.ones((2, 2, 3, 1), "float32"), np.ones((1, 1, 3, 7), "float32")).shape == (
        2,
        5,
        4,
        7,
    )


def test_padding_and_resizing() -> None:
    assert K.temporal_padding(X[:, :, 0], (2, 1)).shape == (2, 9, 3)
    assert K.spatial_2d_padding(X, ((1, 0), (2, 3))).shape == (2, 7, 10, 3)
    assert K.spatial_2d_padding(X, ((1, 0), (2, 3)), "channels_first").shape == (2, 6, 6, 8)
    assert K.spatial_3d_padding(X[..., None]).shape == (2, 8, 7, 5, 1)
    enlarged = K.resize_images(X, 2, 3, "channels_last")
    np.testing.assert_array_equal(enlarged, keras.layers.UpSampling2D((2, 3))(X))
    assert K.resize_images(X, 2, 2, "channels_last", "bilinear").shape == (2, 12, 10, 3)
    assert K.resize_volumes(X[..., None], 1, 2, 3, "channels_last").shape == (2, 6, 10, 9, 1)


def test_numbers_parts_and_prints(capfd: pytest.CaptureFixture[str]) -> None:
    assert K.arange(3).tolist() == [0, 1, 2]
    assert K.arange(1, 6, 2, "float32").tolist() == [1, 3, 5]
    assert K.arange(-1).tolist() == []
    assert K.slice(X, [0, 1, 0, 0], [-1, 2, 5, 1]).shape == (2, 2, 5, 1)
    assert K.to_dense(X) is X
    assert K.print_tensor(K.constant([1.5]), "x =").shape == (1,)
    assert "x =" in capfd.readouterr().err
    assert K.random_binomial((4,), 1.0).tolist() == [1, 1, 1, 1]
    assert K.random_normal_variable((2, 3), 0, 1).shape == (2, 3)
    assert 2 <= K.random_uniform_variable((1,), 2, 3).numpy()[0] <= 3
    np.testing.assert_allclose(K.bias_add(X, np.ones(3)), X + 1)
    np.testing.assert_allclose(
        K.bias_add(X, np.arange(6.0), "channels_first"), X + np.arange(6.0).reshape(6, 1, 1), rtol=1e-6
    )
    mean, var = X.mean((0, 1, 2)), X.var((0, 1, 2))
    expected = 2 * (X - mean) / np.sqrt(var + 1e-3) + 1
    np.testing.assert_allclose(K.batch_normalization(X, mean, var, 1.0, 2.0), expected, atol=1e-5)
    assert float(K.foldl(lambda a, b: a - b, K.constant([1.0, 2.0, 3.0]))) == -4
    assert float(K.foldr(lambda a, b: a - b, K.constant([1.0, 2.0, 3.0]))) == 0
    K.reset_uids()
    assert keras.layers.Dense(1).name == "dense"


@pytest.mark.full
def test_the_ctc_loss_is_minus_the_log_of_the_sum_over_all_alignments() -> None:
    scores = RNG.uniform(0.1, 1, size=(2, 4, 3)).astype("float32")
    probabilities = scores / scores.sum(-1, keepdims=True)
    labels, steps, lengths = np.array([[0, 1], [1, 0]]), np.array([[4], [3]]), np.array([[2], [1]])

    def collapse(path):
        return [label for label, _ in itertools.groupby(path) if label != 2]

    expected = []
    for row in range(2):
        paths = itertools.product(range(3), repeat=int(steps[row, 0]))
        wanted = labels[row, : lengths[row, 0]].tolist()
        total = sum(
            np.prod([probabilities[row, t, p] for t, p in enumerate(path)])
            for path in paths
            if collapse(path) == wanted
        )
        expected.append([-np.log(total)])
    found = K.ctc_batch_cost(labels, probabilities, steps, lengths)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.full
def test_ctc_paths_are_decoded() -> None:
    best = np.array([[0, 0, 2, 1, 1], [2, 1, 1, 2, 2]])
    probabilities = np.eye(3, dtype="float32")[best] * 0.9 + 0.03
    (found,), points = K.ctc_decode(probabilities, [5, 5])
    assert found.tolist() == [[0, 1], [1, -1]]
    assert points.shape == (2, 1)
    paths, points = K.ctc_decode(probabilities, [5, 5], greedy=False, beam_width=5, top_paths=2)
    assert len(paths) == 2
    assert paths[0].tolist() == [[0, 1], [1, -1]]
    assert points.shape == (2, 2)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_a_recurrence_is_that_of_the_layer(backwards: bool, masked: bool) -> None:
    x = X[:, :, 0]
    mask = np.arange(6) < np.array([[6], [4]]) if masked else None
    cell = keras.layers.SimpleRNNCell(4)
    layer = keras.layers.RNN(cell, return_sequences=True, return_state=True, go_backwards=backwards)
    outputs, state = layer(x, mask=mask)

    def step(values, states):
        output = K.tanh(K.dot(values, cell.kernel) + K.dot(states[0], cell.recurrent_kernel) + cell.bias)
        return output, [output]

    last, found, states = K.rnn(step, x, [np.zeros((2, 4), "float32")], go_backwards=backwards, mask=mask)
    np.testing.assert_allclose(found, outputs, atol=1e-6)
    np.testing.assert_allclose(states[0], state, atol=1e-6)
    np.testing.assert_allclose(last, found[:, -1], atol=1e-6)
    _, alone, _ = K.rnn(step, x, [np.zeros((2, 4), "float32")], return_all_outputs=False, constants=[1.0])
    assert alone.shape == (2, 1, 4)
