"""The networks and Adam in NumPy: initial weights, the expected losses of the first steps of the MLP, and logits."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]


def initial_weights(network: str = "mlp") -> list[Array]:
    """Kernel and bias of each layer, in the order of `model.get_weights()`."""
    random = np.random.default_rng(1)
    shapes: list[tuple[int, ...]] = list(pairwise((784, 256, 256, 10)))
    if network == "cnn":
        shapes = [(3, 3, 1, 32), (13 * 13 * 32, 64), (64, 10)]
    weights: list[Array] = []
    for shape in shapes:
        limit = np.sqrt(6 / (np.prod(shape[:-1]) + shape[-1]))
        weights += [random.uniform(-limit, limit, shape).astype("float32"), np.zeros(shape[-1], "float32")]
    return weights


def predict_logits(network: str, x: Array) -> Array:
    """What the network predicts with its initial weights."""
    weights = [weight.astype("float64") for weight in initial_weights(network)]
    parts = [x[start : start + 500] for start in range(0, len(x), 500)]
    if network == "cnn":
        parts = [_convolve_and_pool(part, *weights[:2]) for part in parts]
        weights = weights[2:]
    return np.concatenate([_outputs(weights, part)[-1] for part in parts])


# Variants of Adam. PyTorch adds epsilon after the bias correction of the velocity: a smaller one in the first steps.
Adam = Literal["keras", "torch"]


def first_steps(
    data: tuple[Array, Array], batch_size: int, steps: int, adam: Adam = "keras"
) -> tuple[list[float], int]:
    """The losses of the first steps, each before its update, and the number of correctly classified rows."""
    weights = [weight.astype("float64") for weight in initial_weights()]
    momentum, velocity = ([np.zeros_like(weight) for weight in weights] for _ in range(2))
    losses, num_correct = [], 0
    for step in range(1, steps + 1):
        x, y = (array[(step - 1) * batch_size : step * batch_size] for array in data)
        loss, correct, gradients = _value_and_gradients(weights, x, y)
        unbiased = np.sqrt(1 - 0.999**step)
        rate = 1e-3 * unbiased / (1 - 0.9**step)
        epsilon = 1e-7 if adam == "keras" else 1e-7 * unbiased
        for weight, m, v, gradient in zip(weights, momentum, velocity, gradients, strict=True):
            m += (gradient - m) * 0.1
            v += (gradient**2 - v) * 0.001
            weight -= rate * m / (np.sqrt(v) + epsilon)
        losses.append(loss)
        num_correct += correct
    return losses, num_correct


def mean_loss_and_accuracy(logits: Array, y: Array) -> tuple[float, float]:
    """Cross-entropy and accuracy of logits."""
    loss = -_log_softmax(logits)[np.arange(len(y)), y].mean()
    return float(loss), float((logits.argmax(1) == y).mean())


def _value_and_gradients(weights: list[Array], x: Array, y: Array) -> tuple[float, int, list[Array]]:
    *inputs, logits = _outputs(weights, x)
    log_probs = _log_softmax(logits)
    rows = np.arange(len(y))
    delta = np.exp(log_probs)
    delta[rows, y] -= 1
    delta /= len(y)
    gradients: list[Array] = []
    for kernel, layer_input in zip(reversed(weights[::2]), reversed(inputs), strict=True):
        gradients = [layer_input.T @ delta, delta.sum(0), *gradients]
        delta = delta @ kernel.T * (layer_input > 0)
    return -float(log_probs[rows, y].mean()), int((logits.argmax(1) == y).sum()), gradients


def _outputs(weights: list[Array], x: Array) -> list[Array]:
    """The input of the dense layers, and the output of each; of the last one without ReLU."""
    outputs = [x]
    for kernel, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        outputs.append(np.maximum(outputs[-1] @ kernel + bias, 0))
    return [*outputs, outputs[-1] @ weights[-2] + weights[-1]]


def _convolve_and_pool(x: Array, kernel: Array, bias: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(x[..., 0], (3, 3), axis=(1, 2))
    activations = np.maximum(np.tensordot(windows, kernel[:, :, 0], axes=2) + bias, 0)
    rows, height, width, channels = activations.shape
    tiles = activations.reshape(rows, height // 2, 2, width // 2, 2, channels)
    return tiles.max((2, 4)).reshape(rows, -1)


def _log_softmax(logits: Array) -> Array:
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))
