"""The array of a variable is given to the program that writes it, unless something else holds it."""

import keras
import numpy as np

import unisono
from unisono._src.tracing.functions import _concrete


def _is_donated(variable: keras.Variable) -> bool:
    given = _concrete._take_for_donation(variable)
    return given is variable._value


def test_an_array_is_donated_if_only_its_variable_holds_it() -> None:
    variable = keras.Variable(np.zeros(4, "float32"))
    assert _is_donated(variable)
    held = variable._value
    assert not _is_donated(variable)
    del held
    assert _is_donated(variable)


def test_on_read_variables_count_the_same() -> None:
    with unisono.MirroredStrategy(["cpu:0", "cpu:1"]).scope():
        variable = keras.Variable(0.0, synchronization="on_read", aggregation="sum")
    variable.assign(1.0)
    given = _concrete._take_for_donation(variable)
    held = _concrete._take_for_donation(variable)
    assert held is not given  # `given` holds it


def test_an_array_that_the_user_holds_survives_the_next_call() -> None:
    variable = keras.Variable(np.zeros(4, "float32"))
    step = unisono.function(lambda: variable.assign_add(np.ones(4, "float32")))
    step()
    before = variable.value
    step()
    assert (np.asarray(before).tolist(), variable.numpy().tolist()) == ([1.0] * 4, [2.0] * 4)
