"""The names of the scopes around."""

import keras

from unisono import seams


def test_names_are_joined() -> None:
    assert seams.current_name_scope() == ""
    with keras.name_scope("outer"), keras.name_scope("inner"):
        assert seams.current_name_scope() == "outer/inner"
    assert seams.current_name_scope() == ""
