"""guide/core: quickstart, logistic regression, multilayer perceptrons, matrix approximation, optimizers."""

from pathlib import Path

import numpy as np
import pytest

import unisono.tf as tf


class Normalize(tf.Module):
    def __init__(self, x: tf.Tensor) -> None:
        self.mean = tf.Variable(tf.math.reduce_mean(x, axis=0))
        self.std = tf.Variable(tf.math.reduce_std(x, axis=0))

    def norm(self, x: tf.Tensor) -> tf.Tensor:
        return (x - self.mean) / self.std

    def unnorm(self, x: tf.Tensor) -> tf.Tensor:
        return (x * self.std) + self.mean


def xavier_init(shape: list) -> tf.Tensor:
    in_dim, out_dim = shape
    xavier_lim = tf.sqrt(6.0) / tf.sqrt(tf.cast(in_dim + out_dim, tf.float32))
    return tf.random.uniform(shape=(in_dim, out_dim), minval=-xavier_lim, maxval=xavier_lim, seed=22)


class DenseLayer(tf.Module):
    def __init__(self, out_dim: int, weight_init: object = xavier_init, activation: object = tf.identity) -> None:
        self.out_dim = out_dim
        self.weight_init = weight_init
        self.activation = activation
        self.built = False

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        if not self.built:
            self.in_dim = x.shape[1]
            self.w = tf.Variable(self.weight_init(shape=(self.in_dim, self.out_dim)))
            self.b = tf.Variable(tf.zeros(shape=(self.out_dim,)))
            self.built = True
        return self.activation(tf.add(tf.matmul(x, self.w), self.b))


class MLP(tf.Module):
    def __init__(self, layers: list) -> None:
        self.layers = layers

    @tf.function
    def __call__(self, x: tf.Tensor, preds: bool = False) -> tf.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Adam:
    """As the guide has it: moments and slots in Python lists of variables."""

    def __init__(self, learning_rate: float = 1e-2, beta_1: float = 0.9, beta_2: float = 0.999) -> None:
        self.beta_1, self.beta_2, self.learning_rate, self.ep = beta_1, beta_2, learning_rate, 1e-7
        self.t = tf.Variable(1.0)
        self.v_dvar, self.s_dvar = [], []
        self.built = False

    def apply_gradients(self, grads: list, variables: list) -> None:
        if not self.built:
            for var in variables:
                self.v_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
                self.s_dvar.append(tf.Variable(tf.zeros(shape=var.shape)))
            self.built = True
        for i, (d_var, var) in enumerate(zip(grads, variables, strict=True)):
            self.v_dvar[i].assign(self.beta_1 * self.v_dvar[i] + (1 - self.beta_1) * d_var)
            self.s_dvar[i].assign(self.beta_2 * self.s_dvar[i] + (1 - self.beta_2) * tf.square(d_var))
            v_bc = self.v_dvar[i] / (1 - (self.beta_1**self.t))
            s_bc = self.s_dvar[i] / (1 - (self.beta_2**self.t))
            var.assign_sub(self.learning_rate * (v_bc / (tf.sqrt(s_bc) + self.ep)))
        self.t.assign_add(1.0)


@pytest.mark.full
def test_a_perceptron_of_lazy_layers_trains_with_its_own_optimizer() -> None:
    """layers that make variables in the first call of a tf.function; Adam as a class of variables; train steps"""
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(64, 4)).astype("float32"))
    y = tf.cast(tf.reduce_sum(x, axis=1) > 0, tf.int32)
    norm_x = Normalize(x)
    model = MLP([DenseLayer(8, activation=tf.nn.relu), DenseLayer(2)])
    optimizer = Adam(0.05)

    def cross_entropy_loss(y_pred: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=y_pred))

    def accuracy(y_pred: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        class_preds = tf.argmax(tf.nn.softmax(y_pred), axis=1)
        return tf.reduce_mean(tf.cast(tf.equal(y, tf.cast(class_preds, tf.int32)), tf.float32))

    losses = []
    for _ in range(15):
        for x_batch, y_batch in tf.data.Dataset.from_tensor_slices((x, y)).batch(32):
            with tf.GradientTape() as tape:
                batch_loss = cross_entropy_loss(model(norm_x.norm(x_batch)), y_batch)
            grads = tape.gradient(batch_loss, model.variables)
            optimizer.apply_gradients(grads, model.variables)
            losses.append(batch_loss)
    assert losses[-1] < losses[0]
    assert accuracy(model(norm_x.norm(x)), y) > 0.8
    np.testing.assert_allclose(norm_x.unnorm(norm_x.norm(x)), x, atol=1e-5)


def test_logistic_regression_with_lazy_weights_is_exported(tmp_path: Path) -> None:
    """weights made under `if not self.built`, a training flag, an ExportModule with a signature of unknown sizes"""

    class LogisticRegression(tf.Module):
        def __init__(self) -> None:
            self.built = False

        def __call__(self, x: tf.Tensor, train: bool = True) -> tf.Tensor:
            if not self.built:
                self.w = tf.Variable(tf.random.uniform(shape=[x.shape[-1], 1], seed=22))
                self.b = tf.Variable(tf.random.uniform(shape=[], seed=22))
                self.built = True
            z = tf.squeeze(tf.add(tf.matmul(x, self.w), self.b), axis=1)
            return z if train else tf.sigmoid(z)

    log_reg = LogisticRegression()
    x = tf.constant(np.random.default_rng(1).normal(size=(16, 3)), dtype=tf.float32)
    assert log_reg(x, train=False).shape == (16,)

    class ExportModule(tf.Module):
        def __init__(self, model: LogisticRegression, cutoff: float = 0.5) -> None:
            self.model = model
            self.cutoff = tf.constant(cutoff)

        @tf.function(input_signature=[tf.TensorSpec(shape=[None, None], dtype=tf.float32)])
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            return tf.where(self.model(x, train=False) > self.cutoff, 1.0, 0.0)

    export = ExportModule(log_reg)
    tf.saved_model.save(export, str(tmp_path / "log_reg_export"))
    loaded = tf.saved_model.load(str(tmp_path / "log_reg_export"))
    np.testing.assert_array_equal(loaded(x), export(x))


def test_optimizers_as_functions_of_variables() -> None:
    """gradient descent, momentum and a custom optimizer on a surface; tf.function with variables of a class"""

    class Momentum:
        def __init__(self, learning_rate: float = 1e-1, momentum: float = 0.7) -> None:
            self.learning_rate, self.momentum, self.change = learning_rate, momentum, 0.0

        def apply_gradients(self, grads: list, variables: list) -> None:
            for grad, var in zip(grads, variables, strict=True):
                curr_change = self.learning_rate * grad + self.momentum * self.change
                var.assign_sub(curr_change)
                self.change = curr_change

    x = tf.Variable(2.0)
    optimizer = Momentum()
    history = []
    for _ in range(10):
        with tf.GradientTape() as tape:
            loss = 2 * x**2
        optimizer.apply_gradients([tape.gradient(loss, x)], [x])
        history.append(float(loss))
    assert min(history) < 0.5 * history[0]


def test_matrix_approximation() -> None:
    """linalg.svd, diag_part, low-rank reconstruction, energy of singular values, cast of an image"""
    matrix = tf.constant(np.random.default_rng(0).random((12, 8)), tf.float32)
    s, u, v = tf.linalg.svd(matrix)
    approximation = tf.matmul(u * s[tf.newaxis, :], v, transpose_b=True)
    np.testing.assert_allclose(approximation, matrix, atol=1e-5)
    low = tf.matmul(u[..., :, :3], tf.matmul(tf.linalg.diag(s[..., :3]), v[..., :, :3], adjoint_b=True))
    error = tf.math.reduce_mean((matrix - low) ** 2)
    assert 0 < float(error) < 0.1
    energy = tf.cumsum(s**2) / tf.reduce_sum(s**2)
    assert int(tf.where(energy > 0.9)[0, 0]) >= 0
    batch = tf.transpose(tf.constant(np.random.default_rng(0).random((6, 6, 3)), tf.float32), perm=[2, 0, 1])
    assert tf.linalg.svd(batch)[0].shape == (3, 6)
