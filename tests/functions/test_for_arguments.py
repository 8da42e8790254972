"""A function for one kind of arguments."""

from typing import Any

import numpy as np

import unisono
from unisono.data import TensorSpec


def test_a_function_remembers_the_kinds_of_arguments_it_was_traced_for() -> None:
    function = unisono.function(lambda x, mode, scale=1.0: x * scale)
    function(np.zeros((2, 3), "float32"), "fast")
    function(np.zeros((2, 3), "float32"), "fast")
    function(np.zeros(4, "int32"), "slow", scale=2.0)
    assert [kind.structured_input_signature for kind in function.kinds] == [
        ((TensorSpec((2, 3), "float32"), "fast"), {}),
        ((TensorSpec((4,), "int32"), "slow", 2.0), {}),
    ]


def test_a_concrete_function_is_asked_for_by_specs_without_tracing() -> None:
    function = unisono.function(lambda x: x * 2)
    asked = function.get_concrete_function(TensorSpec((None, 2), "float32"))
    assert function.experimental_get_tracing_count() == 0
    assert function.kinds == [asked]
    assert function.get_concrete_function(TensorSpec((None, 2), "float32")) is asked
    assert asked(np.ones((1, 2), "float32")).tolist() == [[2.0, 2.0]]


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
    assert [type(kind.args[0]).__name__ for kind in step.kinds] == ["PerReplica"]
