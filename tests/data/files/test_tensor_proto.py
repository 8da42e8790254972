"""Tensors as TensorFlow's bytes. tests/tf/test_io.py compares them with TensorFlow's own."""

import contextlib
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis.extra import numpy as npst

from unisono.io import ExampleError, parse_tensor, serialize_tensor

ARRAYS = npst.arrays(
    st.sampled_from(["float32", "float64", "int32", "int64", "uint8", "uint64", "bool", "complex64", "float16"]),
    npst.array_shapes(min_dims=0, min_side=0),
)


@hypothesis.given(ARRAYS)
def test_an_array_comes_back(array: Any) -> None:
    back = parse_tensor(serialize_tensor(array))
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


@hypothesis.given(st.lists(st.binary(max_size=9), max_size=4))
def test_byte_strings_come_back(texts: list[bytes]) -> None:
    array = np.empty(len(texts), object)
    array[:] = texts
    assert parse_tensor(serialize_tensor(array)).tolist() == texts


@hypothesis.given(st.binary(max_size=40), st.integers(0, 60))
def test_damaged_bytes_are_an_example_error_or_an_array(data: bytes, cut: int) -> None:
    whole = serialize_tensor(np.arange(4, dtype="int32"))
    for damaged in (data, whole[:cut] + data, whole + data):
        with contextlib.suppress(ExampleError):
            assert isinstance(parse_tensor(damaged), np.ndarray)


def test_a_few_bytes_do_not_ask_for_all_memory() -> None:
    huge = b"\x08\x01\x12\x08\x12\x06\x08\xff\xff\xff\xff\x7f\x2a\x04\x00\x00\xc0?"
    with pytest.raises(ExampleError, match="1 values for an array of shape"):
        parse_tensor(huge)


def test_a_dtype_that_has_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="datetime64"):
        serialize_tensor(np.array(["2020-01-01"], "datetime64[D]"))
