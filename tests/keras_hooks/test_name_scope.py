"""The names of the scopes around."""

import keras

from unisono._src import keras_hooks


def test_names_are_joined() -> None:
    assert keras_hooks.current_name_scope() == ""
    with keras.name_scope("outer"), keras.name_scope("inner"):
        assert keras_hooks.current_name_scope() == "outer/inner"
    assert keras_hooks.current_name_scope() == ""
