"""Maps keep the dtype of their float32 inputs, as in TensorFlow, however they are executed: numbers of Python and NumPy
take the dtype of the tensor. Maps compute in 64 bits, so that other dtypes are possible."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import unisono.tf as tf

X = np.random.default_rng(0).random((4, 3, 3, 3)).astype("float32")
SIZES = np.array([0.4, 0.5, 0.6])

MAPS: dict[str, Callable[[Any], Any]] = {
    "float64 scalar": lambda x: x * np.float64(2) - np.sqrt(2),
    "float64 first": lambda x: np.float64(1) - x,
    "float64 array": lambda x: SIZES * (x - SIZES),
    "list and number": lambda x: (x - [0.4, 0.5, 0.6]) / 255 + 1.0,
    "function": lambda x: tf.maximum(tf.multiply(x, np.pi), np.float64(0.5)),
    "standardization": tf.image.per_image_standardization,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAPS)
def test_float32_stays_float32(name: str) -> None:
    function = MAPS[name]
    signature = tf.TensorSpec((3, 3, 3), tf.float32)
    datasets = {
        "compiled": tf.data.Dataset.from_tensor_slices(X).map(function),
        "batched": tf.data.Dataset.from_tensor_slices(X).map(function).batch(2),
        "stream": tf.data.Dataset.from_generator(lambda: iter(X), output_signature=signature).map(function),
        "python": tf.data.Dataset.from_tensor_slices(X).map(lambda x: tf.py_function(function, [x], tf.float32)),
    }
    for kind, dataset in datasets.items():
        assert next(iter(dataset)).dtype == tf.float32, kind
        assert dataset.element_spec.dtype == tf.float32, kind
    assert function(tf.constant(X[0])).dtype == tf.float32
    if name != "float64 first":  # elements outside maps are NumPy arrays, and NumPy computes this one itself
        element = next(iter(tf.data.Dataset.from_tensor_slices(X)))
        assert function(element).dtype == tf.float32


def test_integers_and_other_dtypes_are_as_in_tensorflow() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(4, dtype="int32"))
    assert next(iter(dataset.map(lambda x: x * np.int64(3)))).dtype == tf.int32
    doubles = tf.data.Dataset.from_tensor_slices(X.astype("float64"))
    assert next(iter(doubles.map(lambda x: x * np.float64(2)))).dtype == tf.float64
    assert next(iter(doubles.map(lambda x: 2.0 * x))).dtype == tf.float64


@pytest.mark.parametrize("dtype", ["uint8", "int16"])
def test_quotients_of_small_integers_are_float32(dtype: str) -> None:
    pixels = np.array([[51, 255]], dtype)
    dataset = tf.data.Dataset.from_tensor_slices(pixels)
    (element,) = dataset
    for divide in (lambda x: x / 255, lambda x: 255 / x, lambda x: x / x, lambda x: x / [51, 255]):
        quotient = divide(element)
        assert quotient.dtype == tf.float32
        # XLA multiplies by the reciprocal of a constant, which rounds differently.
        assert quotient.numpy() == pytest.approx(divide(tf.constant(pixels[0])).numpy(), rel=2e-7)
    assert next(iter(dataset.map(lambda x: x / 255))).dtype == tf.float32
