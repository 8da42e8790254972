"""The MLP and Adam in NumPy: the initial weights of all loops, and the expected losses of their first steps."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]


def initial_weights() -> list[Array]:
    """Kernel and bias of each layer, in the order of `model.get_weights()`."""
    random = np.random.default_rng(1)
    weights: list[Array] = []
    for rows, columns in pairwise((784, 256, 256, 10)):
        limit = np.sqrt(6 / (rows + columns))
        weights += [random.uniform(-limit, limit, (rows, columns)).astype("float32"), np.zeros(columns, "float32")]
    return weights


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


def _value_and_gradients(weights: list[Array], x: Array, y: Array) -> tuple[float, int, list[Array]]:
    kernels, biases = weights[::2], weights[1::2]
    inputs = [x]
    for kernel, bias in zip(kernels[:-1], biases[:-1], strict=True):
        inputs.append(np.maximum(inputs[-1] @ kernel + bias, 0))
    logits = inputs[-1] @ kernels[-1] + biases[-1]
    log_probs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    rows = np.arange(len(y))
    delta = np.exp(log_probs)
    delta[rows, y] -= 1
    delta /= len(y)
    gradients: list[Array] = []
    for kernel, layer_input in zip(reversed(kernels), reversed(inputs), strict=True):
        gradients = [layer_input.T @ delta, delta.sum(0), *gradients]
        delta = delta @ kernel.T * (layer_input > 0)
    return -float(log_probs[rows, y].mean()), int((logits.argmax(1) == y).sum()), gradients
