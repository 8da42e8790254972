"""A function for one kind of arguments."""

from typing import Any

import numpy as np
import pytest

import unisono
from unisono.data import TensorSpec


def test_a_function_remembers_the_kinds_of_arguments_it_was_traced_for() -> None:
    function = unisono.function(lambda x, mode, scale=1.0: x * scale)
    function(np.zeros((2, 3), "float32"), "fast")
    function(np.zeros((2, 3), "float32"), "fast")
    function(np.zeros(4, "int32"), "slow", scale=2.0)
    assert [kind.structured_input_signature for kind in function.specializations] == [
        ((TensorSpec((2, 3), "float32"), "fast"), {}),
        ((TensorSpec((4,), "int32"), "slow", 2.0), {}),
    ]


def test_a_concrete_function_is_asked_for_by_specs_without_tracing() -> None:
    function = unisono.function(lambda x: x * 2)
    asked = function.get_concrete_function(TensorSpec((None, 2), "float32"))
    assert function.experimental_get_tracing_count() == 0
    assert function.specializations == [asked]
    assert function.get_concrete_function(TensorSpec((None, 2), "float32")) is asked
    assert asked(np.ones((1, 2), "float32")).tolist() == [[2.0, 2.0]]


def test_concrete_functions_are_distinguished_by_everything_in_their_arguments() -> None:
    function = unisono.function(lambda x, table, other=None: x)
    spec = TensorSpec((None,), "float32")
    numbers = np.arange(2000, dtype="int32")
    asked = function.get_concrete_function(spec, numbers)
    assert asked.args == (spec, TensorSpec((2000,), "int32"))
    assert function.get_concrete_function(spec, numbers + 1) is asked
    assert function.get_concrete_function(spec, np.arange(2001, dtype="int32")) is not asked
    assert function.get_concrete_function(TensorSpec((None,), "float64"), numbers) is not asked
    one, another = _Named(), _Named()
    assert repr(one) == repr(another)
    kinds = [function.get_concrete_function(spec, numbers, each) for each in (one, another, one)]
    assert kinds[0] is kinds[2] is not kinds[1]
    assert [kind.args[2] for kind in kinds] == [one, another, one]


class _Named:
    def __repr__(self) -> str:
        return "an object"


def test_without_arguments_they_are_those_of_the_input_signature() -> None:
    signature = [TensorSpec((None,), "float32")]
    function = unisono.function(lambda x: x, input_signature=signature)
    assert function.input_signature == signature
    assert function.get_concrete_function().args == tuple(signature)


def test_values_of_replicas_are_kinds_too() -> None:
    strategy = unisono.MirroredStrategy(["cpu:0", "cpu:1"])
    dataset = unisono.data.Dataset.from_tensor_slices(np.arange(4, dtype="float32")).batch(4)

    @unisono.function
    def step(batch: Any) -> Any:
        return strategy.run(lambda x: x * 2, args=(batch,))

    for batch in strategy.experimental_distribute_dataset(dataset):
        step(batch)
    assert [type(kind.args[0]).__name__ for kind in step.specializations] == ["PerReplica"]


def test_a_concrete_function_accepts_only_its_signature_and_knows_its_python_values() -> None:
    power = unisono.function(lambda a, b: a**b)
    square = power.get_concrete_function(a=TensorSpec((), "float32"), b=2)
    assert float(square(np.float32(10))) == 100
    for wrong in ((np.int32(3),), (np.ones(2, "float32"),), (np.float32(10), 3)):
        with pytest.raises(TypeError, match="does not fit the signature"):
            square(*wrong)
