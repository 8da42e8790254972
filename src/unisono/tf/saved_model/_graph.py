"""The tables of a SavedModel: variables, functions and nodes for the objects that are reachable by attributes.

{"variable": 0}                                     an index into the table of variables
{"list": [1, 2]}, {"dict": {"name": 3}}             indices of nodes
{"object": {"name": 4}, "functions": {"f": 0}}      attributes; indices into the table of functions
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
from unisono.tf.saved_model._functions import (
    export_specialization,
    iter_functions,
    parameters_to_json,
    saveable_specializations,
)
from unisono.tf.saved_model._keras_model import specialize_prediction
from unisono.tf.saved_model._programs import SavedProgram

NOT_SAVEABLE = """tf.saved_model.save: got {value!r}, a {kind}. Expected a tf.Module, or a Keras model or layer."""

LEFT_OUT = """tf.saved_model.save leaves out the function {name!r} for the arguments {arguments}, with which it was
called: {reason}"""

NOT_CALLABLE = """tf.saved_model.save stores only the weights of the model {name!r}: {reason}"""

_OBJECT_TYPES = Module | keras.Layer | checkpoint.Checkpoint


class ObjectGraph:
    """The tables for one object.

    Attributes:
        nodes: the table of nodes; the first one is the object.
        arrays: the values of variables, and the serialized programs.
    """

    def __init__(self, obj: Any) -> None:
        if not isinstance(obj, _OBJECT_TYPES):
            raise ValueError(NOT_SAVEABLE.format(value=obj, kind=type(obj).__name__))
        self.nodes: list[JSON] = []
        self.arrays: dict[str, np.ndarray[Any, Any]] = {}
        self._variables: list[JSON] = []
        self._functions: list[JSON] = []
        self._kept_alive: list[Any] = []  # keeps objects alive, so that ids stay unique
        self._node_indices: dict[int, int] = {}
        self._variable_indices: dict[int, int] = {}
        self._function_indices: dict[int, int] = {}
        self._program_indices: dict[int, int] = {}
        self._add_node(obj)

    def add_function(
        self, name: str, function: functions.Function, specializations: list[functions.SpecializedFunction]
    ) -> int:
        """The index of ``function``, added with these specializations."""
        index = self._function_indices.get(id(function))
        if index is None:
            index = self._function_indices[id(function)] = len(self._functions)
            self._kept_alive.append(function)
            self._functions.append({"name": name, "parameters": parameters_to_json(function), "programs": []})
        for specialization in specializations:
            self.add_program(index, specialization)
        return index

    def add_program(self, function: int, specialization: functions.SpecializedFunction) -> int:
        """The index of the specialization's program, added if it is missing. Those for other ranks follow it."""
        if id(specialization) in self._program_indices:
            return self._program_indices[id(specialization)]
        entry = self._functions[function]
        first = len(entry["programs"])
        for program in export_specialization(specialization, entry["name"]):
            self._add_exported(function, program)
        if len(entry["programs"]) > first + 1:
            entry["programs"][first]["other_ranks"] = list(range(first + 1, len(entry["programs"])))
        self._kept_alive.append(specialization)
        self._program_indices[id(specialization)] = first
        return first

    def _add_exported(self, function: int, program: SavedProgram) -> None:
        programs = self._functions[function]["programs"]
        array = f"program/{function}/{len(programs)}"
        self.arrays[array] = np.frombuffer(program.serialized, np.uint8)
        programs.append(
            {
                "array": array,
                "arguments": program.arguments,
                "specs": [_spec_to_json(spec) for spec in program.specs],
                "outputs": program.outputs,
                "output_specs": [_spec_to_json(spec) for spec in program.output_specs],
                "read": [self._add_variable(variable) for variable in program.read],
                "written": program.written,
            }
        )

    def programs(self, function: int) -> list[JSON]:
        """The programs of a function."""
        programs: list[JSON] = self._functions[function]["programs"]
        return programs

    def add_root_function(self, name: str, function: int) -> None:
        """Adds a function to the root object."""
        self.nodes[0]["functions"][name] = function

    def state(self, signatures: JSON) -> JSON:
        """The tables as JSON."""
        return {
            "nodes": self.nodes,
            "variables": self._variables,
            "functions": self._functions,
            "signatures": signatures,
        }

    def _add_node(self, obj: Any) -> int:
        if id(obj) in self._node_indices:
            return self._node_indices[id(obj)]
        index = self._node_indices[id(obj)] = len(self.nodes)
        self._kept_alive.append(obj)
        self.nodes.append(None)
        self.nodes[index] = self._describe(obj)
        return index

    def _describe(self, obj: Any) -> JSON:
        if isinstance(obj, keras.Variable):
            return {"variable": self._add_variable(obj)}
        if isinstance(obj, list | tuple):
            return {"list": [self._add_node(each) for each in obj if _has_state(each)]}
        if isinstance(obj, Mapping):
            return {"dict": {key: self._add_node(each) for key, each in obj.items() if _has_state(each)}}
        found = {name: self._add_method(name, function) for name, function in iter_functions(obj)}
        if isinstance(obj, keras.Model) and obj.built and len(self.nodes) > 1:  # the root's is added by the caller
            found |= self._add_prediction(obj)
        return {"object": {name: self._add_node(value) for name, value in _attributes(obj)}, "functions": found}

    def _add_method(self, name: str, function: functions.Function) -> int:
        index = self.add_function(name, function, [])
        for specialization in saveable_specializations(function):
            try:
                self.add_program(index, specialization)
            except Exception as error:  # whatever the function raises: it may need a replica, for example
                if function.input_signature is not None:
                    raise
                warnings.warn(LEFT_OUT.format(name=name, arguments=specialization.args, reason=error), stacklevel=2)
        return index

    def _add_prediction(self, model: Any) -> dict[str, int]:
        """The prediction of a model that another object holds, so that it can be called when it is loaded."""
        try:
            specialization = specialize_prediction(model)
            function = specialization.function
            return {"__call__": self.add_function(model.name, function, [specialization])}  # type: ignore[arg-type]
        except ValueError as error:
            warnings.warn(NOT_CALLABLE.format(name=model.name, reason=error), stacklevel=2)
            return {}

    def _add_variable(self, variable: Any) -> int:
        if id(variable) in self._variable_indices:
            return self._variable_indices[id(variable)]
        index = self._variable_indices[id(variable)] = len(self._variables)
        self._kept_alive.append(variable)
        array = f"variable/{index}"
        self.arrays[array] = np.asarray(variable)
        self._variables.append(
            {
                "array": array,
                "name": variable.name,
                "trainable": bool(variable.trainable),
                "aggregation": variable.aggregation,
                "synchronization": variable.synchronization,
            }
        )
        return index


def _attributes(obj: Any) -> Iterator[tuple[str, Any]]:
    """The attributes that are saved; for a layer its weights, in order."""
    if isinstance(obj, keras.Layer):
        yield "weights", list(obj.weights)
        return
    for name, value in sorted(vars(obj).items()):
        if not name.startswith("_unisono") and _has_state(value):
            yield name, value


def _has_state(value: Any) -> bool:
    """Whether ``value`` contains something to save."""
    if isinstance(value, list | tuple):
        return any(map(_has_state, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) for key in value) and any(map(_has_state, value.values()))
    return isinstance(value, keras.Variable | _OBJECT_TYPES)


def _spec_to_json(spec: Any) -> JSON:
    return {"shape": list(spec.shape), "dtype": to_jax_dtype(spec.dtype).name, "name": spec.name}
