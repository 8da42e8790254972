"""An override is what was set last, or its default; the error at the end of data is one that `tf` replaces."""

import pytest

from unisono._src.core import OutOfRangeError, Override, out_of_range_error
from unisono.data import Dataset


def test_an_override_has_its_default_until_it_is_set_and_after_it_is_reset() -> None:
    spell = Override(str.upper)
    assert spell.current("a") == "A"
    spell.set(str.title)
    assert spell.current("a b") == "A B"
    spell.reset()
    assert spell.current is str.upper


def test_the_last_set_wins() -> None:
    override = Override(1)
    override.set(2)
    override.set(3)
    assert override.current == 3
    override.reset()
    assert override.current == 1


def test_the_error_has_its_text_alone() -> None:
    error = OutOfRangeError("the data has ended")
    assert str(error) == "the data has ended"
    assert OutOfRangeError.__mro__[1] is Exception


def test_a_subclass_that_was_set_is_raised_at_the_end_of_data() -> None:
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
