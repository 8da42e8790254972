"""The error at the end of data is a plain exception, of which another layer may raise a kind of its own."""

import pytest

from unisono._src.core import OutOfRangeError, out_of_range_error
from unisono.data import Dataset


def test_the_error_has_its_text_alone() -> None:
    error = OutOfRangeError("the data has ended")
    assert str(error) == "the data has ended"
    assert OutOfRangeError.__mro__[1] is Exception


def test_who_sets_a_subclass_gets_it_at_the_end_of_data() -> None:
    class EndedError(OutOfRangeError):
        pass

    before = out_of_range_error.current
    out_of_range_error.set(EndedError)
    try:
        with pytest.raises(EndedError, match="get_next: the data has ended: range"):
            iter(Dataset.range(0)).get_next()
    finally:
        out_of_range_error.set(before)
    with pytest.raises(OutOfRangeError) as ended:
        iter(Dataset.range(0)).get_next()
    assert not isinstance(ended.value, EndedError)
