"""Private attributes of Keras that are read: name scopes, and what a model is called with."""

from typing import Any

import keras
import numpy as np
import pytest

from unisono._src import keras_hooks


def test_a_functional_model_has_the_structure_of_its_inputs() -> None:
    a, b = keras.Input((2,), name="a"), keras.Input((3,), dtype="int32", name="b")
    (found,) = keras_hooks.input_signature(keras.Model({"a": a, "b": b}, [a, b]))
    assert {name: (spec.shape, spec.dtype) for name, spec in found.items()} == {
        "a": ((None, 2), "float32"),
        "b": ((None, 3), "int32"),
    }


def test_a_subclassed_model_knows_it_once_it_was_called() -> None:
    class Net(keras.Model):
        def call(self, x: Any) -> Any:
            return x

    net = Net()
    with pytest.raises(ValueError, match="built"):
        keras_hooks.input_signature(net)
    net(np.ones((4, 2)))
    assert [spec.shape for spec in keras_hooks.input_signature(net)] == [(None, 2)]


def test_names_of_scopes_are_joined() -> None:
    assert keras_hooks.current_name_scope() == ""
    with keras.name_scope("outer"), keras.name_scope("inner"):
        assert keras_hooks.current_name_scope() == "outer/inner"
    assert keras_hooks.current_name_scope() == ""
