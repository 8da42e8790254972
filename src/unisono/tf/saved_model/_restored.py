"""Restores the functions and signatures of a SavedModel as callables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import jax
import jax.export
import keras
import numpy as np

from unisono._src.state.store import JSON
from unisono._src.tracing import functions
from unisono.tf._dtypes import as_dtype
from unisono.tf._spec import TensorSpec
from unisono.tf._tensors import as_array
from unisono.tf.saved_model._functions import bind_arguments, signature_from_json
from unisono.tf.saved_model._loaded import LoadedSignature
from unisono.tf.saved_model._nests import match_nest, unflatten_nest

NO_PROGRAM = """The function {name!r} was not saved for these arguments: {given}.
It was saved for:
    {known}"""

NO_PROGRAMS = """The function {name!r} was saved without a program: it had no input_signature, and was not called
before it was saved. Give it one, or call it, and save again."""

WRONG_TENSOR = """The input {name!r} of the signature {signature!r} is {given}. Expected {expected}."""

WRONG_NAMES = """The signature {signature!r} takes {expected}; it was called with {given}."""

_CALLS: Final = re.compile(r'custom_call @"?([^\s"(]+)|call_target_name = "([^"]*)"')


class RestoredProgram:
    """A program and its variables."""

    def __init__(self, entry: JSON, serialized: Any, variables: list[Any]) -> None:
        self._exported = _deserialize(bytearray(serialized.tobytes()))
        self.arguments, self.outputs = entry["arguments"], entry["outputs"]
        self.specs, self.output_specs = (
            [TensorSpec(spec["shape"], spec["dtype"], spec["name"]) for spec in entry[key]]
            for key in ("specs", "output_specs")
        )
        self.other_ranks: list[int] = entry.get("other_ranks", [])
        self._read = [variables[index] for index in entry["read"]]
        self._written = [self._read[index] for index in entry["written"]]

    def __call__(self, tensors: list[Any]) -> list[Any]:
        """Runs the program; assigns variables, and returns the tensors of the results."""
        results, new = self._exported.call([variable.value for variable in self._read], tensors)
        for variable, value in zip(self._written, new, strict=True):
            variable.assign(value)
        return list(results)

    def match_arguments(self, arguments: Mapping[str, Any], casts: bool) -> list[Any] | None:
        """The tensors among the arguments; None if the program was not saved for such arguments."""
        found = match_nest(self.arguments, arguments)
        if found is None:
            return None
        tensors = [_match_spec(found[index], spec, casts) for index, spec in enumerate(self.specs)]
        return None if any(tensor is None for tensor in tensors) else tensors


def restore_function(entry: JSON, programs: list[RestoredProgram]) -> functions.Function:
    """Restores a function from its entry in the table."""
    name, signature = entry["name"], signature_from_json(entry["parameters"])

    def call(*args: Any, **kwargs: Any) -> Any:
        if not programs:
            raise ValueError(NO_PROGRAMS.format(name=name))
        arguments = bind_arguments(signature, args, kwargs)
        for casts in (False, True):
            for program in programs:
                tensors = program.match_arguments(arguments, casts)
                if tensors is not None:
                    return unflatten_nest(program.outputs, program(tensors))
        known = "\n    ".join(str(unflatten_nest(each.arguments, each.specs)) for each in programs)
        raise ValueError(NO_PROGRAM.format(name=name, given=_describe(arguments), known=known))

    return functions.Function(_set_name(call, name))


def restore_signature(name: str, entry: JSON, programs: list[RestoredProgram]) -> LoadedSignature:
    """Restores a signature from its entry in the table. It has several programs if the rank of inputs is unknown."""
    inputs, outputs = entry["inputs"], entry["outputs"]

    def call(*args: Any, **kwargs: Any) -> dict[str, Any]:
        given = {**dict(zip(inputs, args, strict=False)), **kwargs}
        if given.keys() != set(inputs) or len(args) + len(kwargs) != len(inputs):
            called_with = [*["a tensor"] * len(args), *kwargs]
            raise TypeError(WRONG_NAMES.format(signature=name, expected=inputs, given=called_with))
        for program in programs:
            tensors = [_match_spec(given[key], spec, True) for key, spec in zip(inputs, program.specs, strict=True)]
            if all(tensor is not None for tensor in tensors):
                return dict(zip(outputs, program(tensors), strict=True))
        first = next((n for n, tensor in enumerate(tensors) if tensor is None), 0)
        expected = " or ".join(str(program.specs[first]) for program in programs)
        wrong = inputs[first]
        raise TypeError(
            WRONG_TENSOR.format(name=wrong, signature=name, given=_describe(given[wrong]), expected=expected)
        )

    signature = LoadedSignature(_set_name(call, name))
    specs, output_specs = (
        _common_specs([getattr(each, key) for each in programs]) for key in ("specs", "output_specs")
    )
    signature.structured_input_signature = ((), dict(zip(inputs, specs, strict=True)))
    signature.structured_outputs = dict(zip(outputs, output_specs, strict=True))
    return signature


def _common_specs(specs: list[list[TensorSpec]]) -> list[TensorSpec]:
    """The specs of several programs as one list: a shape that differs is unknown."""
    return [
        first if all(each.shape == first.shape for each in others) else TensorSpec(None, first.dtype, first.name)
        for first, *others in zip(*specs, strict=True)
    ]


def _deserialize(serialized: bytearray) -> Any:
    """Reads a program. Rejects one with callbacks, which refer to addresses in a process's memory."""
    try:
        found = jax.export.deserialize(serialized)
        programs = [found, found.vjp()] if found.has_vjp() else [found]
        texts = [program.mlir_module() for program in programs]
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # JAX raises many kinds of errors for invalid bytes
        raise ValueError(f"a program cannot be read: {error!r}") from error
    targets = [target for text in texts for pair in _CALLS.findall(text) for target in pair if target]
    if any("callback" in target for target in targets):
        raise ValueError(f"its program calls {targets}, and a SavedModel has no callbacks")
    return found


def _match_spec(value: Any, spec: TensorSpec, casts: bool) -> Any:
    """Converts a value to a tensor that matches the spec; None if it does not match.

    Python numbers are cast; with ``casts`` also tensors, within one kind of dtype.
    """
    wanted = as_dtype(spec.dtype).dtype
    value = value.value if isinstance(value, keras.Variable) else value
    try:
        given = value if hasattr(value, "dtype") else np.asarray(value)
        if given.dtype.kind in "OSUT":
            return None
        tensor = as_array(given)
        if (casts or given is not value) and np.can_cast(tensor.dtype, wanted, "same_kind"):
            tensor = tensor.astype(wanted)
    except (TypeError, ValueError):  # it cannot be converted to a tensor
        return None
    same = len(tensor.shape) == len(spec.shape) and all(
        want in (None, have) for want, have in zip(spec.shape, tensor.shape, strict=True)
    )
    return tensor if same and tensor.dtype == wanted else None


def _describe(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_describe(each)}" for key, each in value.items()) + "}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"a tensor of shape {tuple(value.shape)} and dtype {value.dtype}"
    return repr(value)


def _set_name(function: Callable[..., Any], name: str) -> Any:
    function.__qualname__ = function.__name__ = name
    return function
