"""An object as a SavedModel has it: the variables, functions and objects in its attributes, as a table of nodes.

{"variable": 0}                                     the first of the table of variables
{"list": [1, 2]}, {"dict": {"name": 3}}             of nodes, by their numbers
{"object": {"name": 4}, "functions": {"f": 0}}      attributes; functions by their numbers in the table of functions
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import keras
import numpy as np

from unisono._src.state import checkpoint
from unisono._src.state.store import JSON
from unisono._src.tracing import functions
from unisono.tf._dtypes import to_jax_dtype
from unisono.tf._module import Module
from unisono.tf.saved_model._functions import functions_of, parameters_of, program_of, saved_kinds

NOT_SAVEABLE = """tf.saved_model.save: {value!r} is a {kind}. Expected a tf.Module, or a model or layer of Keras."""

LEFT_OUT = """tf.saved_model.save leaves out the function {name!r} for the arguments {kind}, with which it was called:
{reason}"""

_OBJECTS = Module | keras.Layer | checkpoint.Checkpoint


class Graph:
    """Tables of all that is reached from an object.

    Attributes:
        nodes: see above; the first one is the object.
        arrays: what goes into the file of arrays.
    """

    def __init__(self, thing: Any) -> None:
        if not isinstance(thing, _OBJECTS):
            raise ValueError(NOT_SAVEABLE.format(value=thing, kind=type(thing).__name__))
        self.nodes: list[JSON] = []
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._variables: list[JSON] = []
        self._functions: list[JSON] = []
        self._kept: list[Any] = []  # so that no identity is given twice
        self._numbers: dict[int, int] = {}
        self._variable_numbers: dict[int, int] = {}
        self._function_numbers: dict[int, int] = {}
        self._program_numbers: dict[int, int] = {}
        self._node(thing)

    def add_function(self, name: str, function: functions.Function, kinds: list[functions.SpecializedFunction]) -> int:
        """The number of ``function``, saved for these kinds of arguments."""
        number = self._function_numbers.get(id(function))
        if number is None:
            number = self._function_numbers[id(function)] = len(self._functions)
            self._kept.append(function)
            self._functions.append({"name": name, "parameters": parameters_of(function), "programs": []})
        for kind in kinds:
            self.add_program(number, kind)
        return number

    def add_program(self, function: int, kind: functions.SpecializedFunction) -> int:
        """The number of the function's program for one kind of arguments, added if it is not there."""
        if id(kind) in self._program_numbers:
            return self._program_numbers[id(kind)]
        entry = self._functions[function]
        program = program_of(kind, entry["name"])
        array = f"program/{function}/{len(entry['programs'])}"
        self.arrays[array] = np.frombuffer(program.serialized, np.uint8)
        entry["programs"].append(
            {
                "array": array,
                "arguments": program.arguments,
                "specs": [_spec(spec) for spec in program.specs],
                "outputs": program.outputs,
                "output_specs": [_spec(spec) for spec in program.output_specs],
                "read": [self._variable(variable) for variable in program.read],
                "written": program.written,
            }
        )
        self._kept.append(kind)
        number = self._program_numbers[id(kind)] = len(entry["programs"]) - 1
        return number

    def programs(self, function: int) -> list[JSON]:
        """What is saved of a function."""
        programs: list[JSON] = self._functions[function]["programs"]
        return programs

    def add_root_function(self, name: str, function: int) -> None:
        """The object gets a function of this name."""
        self.nodes[0]["functions"][name] = function

    def state(self, signatures: JSON) -> JSON:
        """All of it as JSON."""
        return {
            "nodes": self.nodes,
            "variables": self._variables,
            "functions": self._functions,
            "signatures": signatures,
        }

    def _node(self, thing: Any) -> int:
        if id(thing) in self._numbers:
            return self._numbers[id(thing)]
        number = self._numbers[id(thing)] = len(self.nodes)
        self._kept.append(thing)
        self.nodes.append(None)
        self.nodes[number] = self._content(thing)
        return number

    def _content(self, thing: Any) -> JSON:
        if isinstance(thing, keras.Variable):
            return {"variable": self._variable(thing)}
        if isinstance(thing, list | tuple):
            return {"list": [self._node(each) for each in thing if _is_kept(each)]}
        if isinstance(thing, Mapping):
            return {"dict": {key: self._node(each) for key, each in thing.items() if _is_kept(each)}}
        found = {name: self._method(name, function) for name, function in functions_of(thing)}
        return {"object": {name: self._node(value) for name, value in _attributes(thing)}, "functions": found}

    def _method(self, name: str, function: functions.Function) -> int:
        number = self.add_function(name, function, [])
        for kind in saved_kinds(function):
            try:
                self.add_program(number, kind)
            except ValueError as error:
                if function.input_signature is not None:
                    raise
                warnings.warn(LEFT_OUT.format(name=name, kind=kind.args, reason=error), stacklevel=2)
        return number

    def _variable(self, variable: Any) -> int:
        if id(variable) in self._variable_numbers:
            return self._variable_numbers[id(variable)]
        number = self._variable_numbers[id(variable)] = len(self._variables)
        self._kept.append(variable)
        array = f"variable/{number}"
        self.arrays[array] = np.asarray(variable.value)
        self._variables.append(
            {
                "array": array,
                "name": variable.name,
                "trainable": bool(variable.trainable),
                "aggregation": variable.aggregation,
                "synchronization": variable.synchronization,
            }
        )
        return number


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that are saved. Of a layer these are its weights, in their order."""
    if isinstance(thing, keras.Layer):
        yield "weights", list(thing.weights)
        return
    for name, value in sorted(vars(thing).items()):
        if not name.startswith("_unisono") and _is_kept(value):
            yield name, value


def _is_kept(value: Any) -> bool:
    """Whether there is something to save in ``value``."""
    if isinstance(value, list | tuple):
        return any(map(_is_kept, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and any(map(_is_kept, value.values()))
    return isinstance(value, keras.Variable | _OBJECTS)


def _spec(spec: Any) -> JSON:
    return {"shape": list(spec.shape), "dtype": to_jax_dtype(spec.dtype).name, "name": spec.name}
