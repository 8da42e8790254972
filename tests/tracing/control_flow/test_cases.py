"""A converted function gives what Python gives."""

import pytest

from unisono._src.tracing.control_flow import convert

from ._cases import CASES
from ._compare import assert_like_python


@pytest.mark.parametrize("name", CASES)
def test_it_gives_what_python_gives(name):
    function, calls = CASES[name]
    assert convert(function) is not function
    assert_like_python(function, *calls)
