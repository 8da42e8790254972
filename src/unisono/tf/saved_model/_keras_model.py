"""The prediction of a Keras model as a function that can be saved."""

from __future__ import annotations

from typing import Any

import keras
from jax import tree

from unisono._src import keras_hooks
from unisono._src.data.dataset import TensorSpec
from unisono._src.tracing import functions

NOT_BUILT = """The model {name!r} has not been built, so its input shape is unknown. Call it on a batch, or call
model.build(input_shape), before it is saved."""


def specialize_prediction(model: Any, input_signature: Any = None) -> functions.SpecializedFunction:
    """`model(inputs, training=False)` for batches of any size."""
    if not model.built:
        raise ValueError(NOT_BUILT.format(name=model.name))
    given = keras_hooks.input_signature(model) if input_signature is None else list(input_signature)
    specs = [tree.map(_to_spec, each, is_leaf=_is_spec) for each in given]

    def call_with_one_input(inputs: Any, training: bool = False) -> Any:
        return model(inputs, training=training)

    def call_with_inputs(inputs: Any, *more: Any, training: bool = False) -> Any:
        return model(inputs, *more, training=training)

    function = functions.Function(call_with_one_input if len(specs) == 1 else call_with_inputs)
    return functions.SpecializedFunction(function, tuple(specs), {})


def input_names(model: Any, num_inputs: int) -> list[str]:
    """The names of the inputs: `inputs` for one, as in TensorFlow; for several the names of the input layers."""
    if num_inputs == 1:
        return ["inputs"]
    known = [tensor.name for tensor in getattr(model, "inputs", None) or []]
    return known if len(set(known)) == num_inputs else [f"inputs_{number}" for number in range(num_inputs)]


def _is_spec(leaf: Any) -> bool:
    return isinstance(leaf, keras.InputSpec | TensorSpec)


def _to_spec(leaf: Any) -> TensorSpec:
    return leaf if isinstance(leaf, TensorSpec) else TensorSpec(leaf.shape, leaf.dtype)
