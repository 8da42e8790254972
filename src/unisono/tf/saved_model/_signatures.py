"""Signatures: functions of named tensors that return a dict of named tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unisono._src.state.store import JSON
from unisono._src.tracing import functions
from unisono.tf.saved_model._constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from unisono.tf.saved_model._functions import functions_of, saved_kinds
from unisono.tf.saved_model._graph import Graph

NO_FUNCTION = """tf.saved_model.save: the signature {name!r} is {value!r}. Expected a tf.function with an
input_signature, or function.get_concrete_function(tf.TensorSpec(...))."""

MANY_KINDS = """tf.saved_model.save: the signature {name!r} is a function that was called with {number} kinds of
arguments. Expected one: pass function.get_concrete_function(tf.TensorSpec(...))."""

NOT_FLAT = """tf.saved_model.save: what the function of the signature {name!r} returns has no names: {outputs}.
Expected a tensor, a list of tensors, or a dict of tensors."""


def asked_signatures(signatures: Any) -> dict[str, functions.SpecializedFunction]:
    """What the user passed as `signatures`, by name."""
    if signatures is None:
        return {}
    named = signatures if isinstance(signatures, Mapping) else {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {name: _one_kind(name, value) for name, value in named.items()}


def default_signature(thing: Any) -> functions.SpecializedFunction | None:
    """The function of ``thing`` that has an input_signature, if one of them has."""
    found = [function for _, function in functions_of(thing) if function.input_signature is not None]
    return saved_kinds(found[0])[0] if len(found) == 1 else None


def add_signature(
    graph: Graph, name: str, kind: functions.SpecializedFunction, names: list[str] | None = None, *, asked: bool = True
) -> JSON:
    """The signature as JSON, and its program in the graph; None if it was not asked for and has no names."""
    assert isinstance(kind.function, functions.Function)
    function = graph.add_function(name, kind.function, [])
    number = graph.add_program(function, kind)
    program = graph.programs(function)[number]
    outputs = _output_names(program["outputs"])
    if outputs is None:
        if not asked:
            return None
        raise ValueError(NOT_FLAT.format(name=name, outputs=program["outputs"]))
    inputs = names or _input_names(program["arguments"], program["specs"])
    return {"function": function, "program": number, "inputs": inputs, "outputs": outputs}


def _one_kind(name: str, value: Any) -> functions.SpecializedFunction:
    if isinstance(value, functions.SpecializedFunction):
        return value
    if not isinstance(value, functions.Function):
        raise ValueError(NO_FUNCTION.format(name=name, value=value))
    kinds = saved_kinds(value)
    if not kinds:
        raise ValueError(NO_FUNCTION.format(name=name, value=value))
    if len(kinds) > 1:
        raise ValueError(MANY_KINDS.format(name=name, number=len(kinds)))
    return kinds[0]


def _input_names(arguments: JSON, specs: list[JSON]) -> list[str]:
    """By the names of the specs, or else of the parameters."""
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
