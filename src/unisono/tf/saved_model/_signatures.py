"""Signatures: functions of named tensors that return a dict of named tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unisono._src.state.store import JSON
from unisono._src.tracing import functions
from unisono.tf.saved_model._format import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from unisono.tf.saved_model._functions import iter_functions, saveable_specializations
from unisono.tf.saved_model._graph import ObjectGraph

NOT_A_FUNCTION = """tf.saved_model.save: the signature {name!r} is {value!r}. Expected a tf.function with an
input_signature, or function.get_concrete_function(tf.TensorSpec(...))."""

SEVERAL_SPECIALIZATIONS = """tf.saved_model.save: the signature {name!r} is a function that was called with {number}
kinds of arguments. Expected one: pass function.get_concrete_function(tf.TensorSpec(...))."""

NESTED_OUTPUTS = """tf.saved_model.save: the function of the signature {name!r} returns {outputs}.
Expected a tensor, a list of tensors, or a dict of tensors."""


def requested_signatures(signatures: Any) -> dict[str, functions.SpecializedFunction]:
    """The specializations that the user passed as `signatures`, by name."""
    if signatures is None:
        return {}
    named = signatures if isinstance(signatures, Mapping) else {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {name: _single_specialization(name, value) for name, value in named.items()}


def default_signature(obj: Any) -> functions.SpecializedFunction | None:
    """The function of ``obj`` with an input_signature, if exactly one has it."""
    found = [function for _, function in iter_functions(obj) if function.input_signature is not None]
    return saveable_specializations(found[0])[0] if len(found) == 1 else None


def add_signature(
    graph: ObjectGraph,
    name: str,
    specialization: functions.SpecializedFunction,
    names: list[str] | None = None,
    *,
    requested: bool = True,
) -> JSON:
    """Adds the signature's program to the graph, and returns the signature as JSON.

    Returns None if it was not requested and has no outputs, or outputs that cannot be named.
    """
    assert isinstance(specialization.function, functions.Function)
    function = graph.add_function(name, specialization.function, [])
    number = graph.add_program(function, specialization)
    program = graph.programs(function)[number]
    outputs = _output_names(program["outputs"])
    if not requested and not outputs:
        return None
    if outputs is None:
        raise ValueError(NESTED_OUTPUTS.format(name=name, outputs=program["outputs"]))
    inputs = names or _input_names(program["arguments"], program["specs"])
    return {"function": function, "program": number, "inputs": inputs, "outputs": outputs}


def _single_specialization(name: str, value: Any) -> functions.SpecializedFunction:
    if isinstance(value, functions.SpecializedFunction):
        return value
    if not isinstance(value, functions.Function):
        raise ValueError(NOT_A_FUNCTION.format(name=name, value=value))
    specializations = saveable_specializations(value)
    if not specializations:
        raise ValueError(NOT_A_FUNCTION.format(name=name, value=value))
    if len(specializations) > 1:
        raise ValueError(SEVERAL_SPECIALIZATIONS.format(name=name, number=len(specializations)))
    return specializations[0]


def _input_names(arguments: JSON, specs: list[JSON]) -> list[str]:
    """The names of the inputs: those of the specs, or else of the parameters."""
    found: dict[int, str] = {}

    def visit(node: JSON, name: str) -> None:
        ((kind, content),) = node.items()
        if kind == "tensor":
            found[content] = specs[content]["name"] or name
        elif kind == "dict":
            for key, inner in content.items():
                visit(inner, key)
        elif kind in ("list", "tuple"):
            for index, inner in enumerate(content):
                visit(inner, f"{name}_{index}" if index else name)

    visit(arguments, "inputs")
    names = [found[number] for number in range(len(specs))]
    return names if len(set(names)) == len(names) else [f"{name}_{number}" for number, name in enumerate(names)]


def _output_names(outputs: JSON) -> list[str] | None:
    ((kind, content),) = outputs.items()
    if kind == "tensor":
        return ["output_0"]
    if kind == "dict" and all("tensor" in inner for inner in content.values()):
        return list(content)
    if kind in ("list", "tuple") and all("tensor" in inner for inner in content):
        return [f"output_{number}" for number in range(len(content))]
    return [] if outputs == {"value": None} else None
