"""A function as a portable program: StableHLO, by `jax.export`, that takes the variables as inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import jax
import jax.export
import keras
import numpy as np

from unisono._src import jax_hooks
from unisono._src.data.dataset import TensorSpec
from unisono._src.replicas import context
from unisono._src.state.store import JSON
from unisono.tf._dtypes import as_dtype, string, to_jax_dtype
from unisono.tf._tensors import as_array
from unisono.tf.saved_model._nests import put_together, taken_apart
from unisono.tf.saved_model._scope import RUNS_REPLICAS, SavingScope

PLATFORMS: Final = ("cpu", "cuda", "tpu")

UNKNOWN_SIZES = """{name} cannot be saved for inputs of unknown size {specs}: what it does depends on the size.
Save it for one size: give it an input_signature without None, or pass
    signatures=function.get_concrete_function(tf.TensorSpec([32, ...]))
JAX says: {reason}"""

CALLS_PYTHON = """{name} cannot be saved: it calls back into Python (tf.py_function, tf.numpy_function, tf.print,
tf.summary) or does something else that JAX does not export.
JAX says: {reason}"""

TEXT = """{name} cannot be saved: it takes text ({spec}), and text is no input of a compiled program. Save a function of
numbers, and turn text into numbers before it is called."""

NEW_VARIABLES = "{name} makes variables whenever it is called: {names}. Make them before it is saved."


@dataclass(frozen=True, eq=False)
class Program:
    """A function, traced and lowered for one kind of arguments.

    Attributes:
        arguments: the nest of arguments, as JSON.
        specs: of the tensors in it.
        outputs: the nest of results, as JSON.
        output_specs: of the tensors in it.
        read: the variables that are inputs.
        written: the numbers, among these, of those that it gives new values.
        serialized: the program. It takes the list of variables and the list of tensors, and returns two lists: the
            tensors of the results, and the new values.
    """

    arguments: JSON
    specs: list[TensorSpec]
    outputs: JSON
    output_specs: list[TensorSpec]
    read: list[Any]
    written: list[int]
    serialized: bytes


def exported(function: Callable[[Any], Any], arguments: Any, name: str) -> Program:
    """``function`` for a nest of ``arguments`` in which `TensorSpec`s stand for tensors."""
    if context.current_replica() is not None:
        raise RuntimeError("tf.saved_model.save was called inside of strategy.run. Save in the loop around it, once.")
    structure, specs = taken_apart(arguments, lambda leaf: isinstance(leaf, TensorSpec))
    shapes = _shapes(specs, name)
    try:
        traced = _Traced(lambda tensors: function(put_together(structure, tensors)), shapes)
        if traced.scope.new:  # layers that were called first have made their variables; now they are there
            traced = _Traced(lambda tensors: function(put_together(structure, tensors)), shapes)
        if traced.scope.new:
            raise ValueError(NEW_VARIABLES.format(name=name, names=[each.path for each in traced.scope.new]))
        if traced.scope.placement is not None:
            raise ValueError(RUNS_REPLICAS)
        lowered = _lowered(traced, shapes, name)
    except jax.errors.InconclusiveDimensionOperation as error:
        raise ValueError(UNKNOWN_SIZES.format(name=name, specs=specs, reason=_first_line(error))) from error
    results = [_spec(aval) for aval in lowered.out_avals[: len(lowered.out_avals) - len(traced.scope.written)]]
    return Program(structure, specs, traced.outputs, results, traced.variables, traced.written, _serialized(lowered))


class _Traced:
    """A trace: what JAX recorded, what comes out, and which variables were met."""

    def __init__(self, function: Callable[[list[Any]], Any], shapes: list[Any]) -> None:
        self.scope: SavingScope
        self.outputs: JSON = None

        def traced(tensors: list[Any]) -> Any:
            with SavingScope(jax_hooks.current_trace()) as scope:
                self.outputs, results = taken_apart(function(tensors), _is_result)
                results = [as_array(leaf) for leaf in results]
            self.scope = scope
            return results, [scope.raw(variable) for variable in scope.written.values()]

        self.jaxpr = jax.make_jaxpr(traced)(shapes)
        self.variables = list(self.scope.used.values())
        self.written = [list(self.scope.used).index(key) for key in self.scope.written]

    def program(self, variables: list[Any], tensors: list[Any]) -> tuple[list[Any], list[Any]]:
        """What is exported."""
        known = dict(zip(self.scope.used, variables, strict=True))
        flat = jax_hooks.substitute(self.jaxpr, lambda key, like: known[key], tensors)
        num_results = len(flat) - len(self.written)
        return flat[:num_results], flat[num_results:]


def _lowered(traced: _Traced, shapes: list[Any], name: str) -> Any:
    """The program for all platforms; for this one alone, where one of its operations is not there on the others."""
    if traced.jaxpr.effects:
        raise ValueError(CALLS_PYTHON.format(name=name, reason=f"it has the effects {traced.jaxpr.effects}"))
    variables = [jax.ShapeDtypeStruct(tuple(each.shape), each.dtype) for each in traced.variables]
    program = jax.jit(traced.program)
    try:
        return jax.export.export(program, platforms=PLATFORMS)(variables, shapes)
    except NotImplementedError:
        pass
    except ValueError as error:  # what it calls has no name that other processes know
        raise ValueError(CALLS_PYTHON.format(name=name, reason=_first_line(error))) from error
    try:
        return jax.export.export(program)(variables, shapes)
    except (NotImplementedError, ValueError) as error:
        raise ValueError(CALLS_PYTHON.format(name=name, reason=_first_line(error))) from error


def _serialized(lowered: Any) -> bytes:
    """Its bytes, with those of its derivative if it has one: what was loaded can be trained."""
    plain = lowered.serialize()
    try:
        return bytes(lowered.serialize(vjp_order=1))
    except (TypeError, ValueError, NotImplementedError, jax.errors.InconclusiveDimensionOperation):
        return bytes(plain)  # a while loop, say: whoever asks the loaded one for a gradient is told by JAX


def _shapes(specs: Sequence[TensorSpec], name: str) -> list[Any]:
    """What JAX traces with. All unknown numbers of rows are one number: batches go together."""
    scope = jax.export.SymbolicScope()
    shapes = []
    for number, spec in enumerate(specs):
        if as_dtype(spec.dtype) == string:
            raise ValueError(TEXT.format(name=name, spec=spec))
        words = [
            str(size) if size is not None else "batch" if axis == 0 else f"size_{number}_{axis}"
            for axis, size in enumerate(spec.shape)
        ]
        shape = jax.export.symbolic_shape(",".join(words), scope=scope) if None in spec.shape else tuple(spec.shape)
        shapes.append(jax.ShapeDtypeStruct(shape, to_jax_dtype(spec.dtype)))
    return shapes


def _spec(aval: Any) -> TensorSpec:
    return TensorSpec([None if jax.export.is_symbolic_dim(size) else size for size in aval.shape], aval.dtype)


def _is_result(leaf: Any) -> bool:
    """Numbers that a function returns become tensors, as in TensorFlow."""
    return isinstance(leaf, jax.Array | np.ndarray | np.generic | keras.Variable | bool | int | float)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
