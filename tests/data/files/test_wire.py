import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unisono._src.data.files._wire import ExampleError, decode_varints
from unisono.io import Int64List

NUMBERS = st.lists(
    st.one_of(st.integers(0, 127), st.integers(-(2**63), 2**63 - 1), st.sampled_from([2**k for k in range(63)])),
    max_size=60,
)


def one_by_one(data: bytes) -> list[int] | None:
    """The specification, written plainly: None for damage."""
    out, number, size = [], 0, 0
    for byte in data:
        number |= (byte & 127) << 7 * size
        size += 1
        if size > 10:
            return None
        if byte < 128:
            number %= 2**64
            out.append(number - 2**64 if number >= 2**63 else number)
            number = size = 0
    return None if size else out


def packed_by_protobuf(numbers: list[int]) -> bytes:
    """The varints alone: without the tag of the field and its length, a varint too."""
    message = Int64List(value=numbers).SerializeToString()
    length_bytes = next((size for size in range(1, 10) if message[size] < 128), 0) if message else 0
    return message[1 + length_bytes :]


@given(NUMBERS)
def test_numbers_survive(numbers):
    data = packed_by_protobuf(numbers)
    assert decode_varints(data).tolist() == numbers
    assert decode_varints(data).dtype == np.int64


@given(st.one_of(st.binary(max_size=120), st.lists(st.sampled_from([0, 1, 127, 128, 255]), max_size=120).map(bytes)))
def test_any_bytes_are_decoded_as_the_specification_says_or_refused(data):
    expected = one_by_one(data)
    if expected is None:
        with pytest.raises(ExampleError):
            decode_varints(data)
    else:
        assert decode_varints(data).tolist() == expected
