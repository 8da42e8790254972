"""Dtypes of tensors and variables: attributes of TensorFlow's dtypes on NumPy's and on names."""

import json
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import unisono.tf as tf

TENSORS: dict[str, Any] = {
    "array": lambda dtype: tf.constant([1, 0], dtype),
    "element": lambda dtype: next(iter(tf.data.Dataset.from_tensors(np.array([1, 0], dtype.as_numpy_dtype)))),
    "variable": lambda dtype: tf.Variable([1, 0], dtype=dtype),
    "symbolic": lambda dtype: tf.keras.Input((2,), dtype=dtype.name),
}


@pytest.mark.parametrize("kind", TENSORS)
@pytest.mark.parametrize("dtype", [tf.float32, tf.bfloat16, tf.int8, tf.uint8, tf.bool, tf.int32], ids=str)
def test_the_dtype_of_a_tensor_has_tensorflows_attributes(kind: str, dtype: tf.DType) -> None:
    found = TENSORS[kind](dtype).dtype
    assert (found, found.name, found.base_dtype) == (dtype, dtype.name, dtype)
    assert dtype == found
    assert isinstance(found, tf.DType)
    for name in ("is_floating", "is_integer", "is_bool", "is_complex", "is_unsigned", "is_numeric", "size"):
        assert getattr(found, name) == getattr(dtype, name), name
    assert found.as_numpy_dtype is dtype.as_numpy_dtype
    assert found.is_compatible_with(dtype)
    if dtype != tf.bool:
        assert found.limits == (found.min, found.max) == (dtype.min, dtype.max)


def test_text_and_complex_numbers() -> None:
    assert tf.constant(["a"]).dtype.as_numpy_dtype is object
    assert not tf.constant(["a"]).dtype.is_numeric
    assert tf.constant(1j).dtype.real_dtype == tf.float32


def test_a_dtype_inside_a_function() -> None:
    @tf.function
    def largest(x: Any) -> Any:
        return tf.fill([2], x.dtype.max) if x.dtype.is_integer else x

    assert largest(tf.constant(1, tf.int32)).numpy().tolist() == [2147483647] * 2


def test_dtypes_without_a_counterpart_have_no_such_attributes() -> None:
    for dtype in (np.dtype([("a", int)]), np.dtype("datetime64[s]")):
        assert not hasattr(dtype, "is_floating")
        assert not hasattr(dtype, "max")
    assert not hasattr(tf.constant(["a"]).dtype, "max")
    with pytest.raises(AttributeError, match=r"tf.bool has no minimum and maximum"):
        tf.constant([True]).dtype.max  # noqa: B018


def test_the_dtype_of_an_array_is_still_numpys() -> None:
    x = tf.constant([1.0])
    assert x.dtype is np.dtype("float32")
    assert isinstance(x.dtype, np.dtype)


def test_the_dtype_of_a_variable_is_still_a_name() -> None:
    v = tf.Variable([1.0])
    assert isinstance(v.dtype, str)
    assert (v.dtype, f"{v.dtype}", json.dumps(v.dtype)) == ("float32", "float32", '"float32"')
    assert {"float32": 1}[v.dtype] == 1
    assert type(pickle.loads(pickle.dumps(v.dtype))) is str
    assert jnp.zeros(2, v.dtype).dtype == np.zeros(2, v.dtype).dtype == v.dtype
    assert jax.jit(lambda: jnp.zeros(2, tf.Variable([1.0], dtype=tf.bfloat16).dtype))().dtype == jnp.bfloat16
