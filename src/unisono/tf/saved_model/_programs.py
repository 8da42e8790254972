"""Exports a function as a portable StableHLO program with `jax.export`. Variables are inputs of the program."""

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
from unisono.tf.saved_model._needed_sizes import find_needed_size
from unisono.tf.saved_model._nests import flatten_nest, ragged_tensors, unflatten_nest
from unisono.tf.saved_model._scope import RUNS_REPLICAS, SavingScope

PLATFORMS: Final = ("cpu", "cuda", "tpu")

UNKNOWN_SIZES = """{name} cannot be saved for inputs of unknown size {specs}: it depends on the size.
Save it for one size: give it an input_signature without None, or pass
    signatures=function.get_concrete_function(tf.TensorSpec([32, ...]))
JAX says: {reason}"""

CALLS_PYTHON = """{name} cannot be saved: it calls back into Python (tf.py_function, tf.numpy_function, tf.print,
tf.summary) or does something else that JAX does not export.
JAX says: {reason}"""

TEXT_INPUT = """{name} cannot be saved: it takes text ({spec}), and a compiled program has no text inputs. Save a
function of numbers, and convert text to numbers before the call."""

NEW_VARIABLES = "{name} creates variables in every call: {names}. Create them before it is saved."


@dataclass(frozen=True, eq=False)
class SavedProgram:
    """A function, traced and lowered for one specialization.

    Attributes:
        arguments: the nest of arguments, as JSON.
        specs: the specs of the tensors in ``arguments``.
        outputs: the nest of results, as JSON.
        output_specs: the specs of the tensors in ``outputs``.
        read: the variables that are inputs.
        written: the indices in ``read`` of the variables that it assigns.
        serialized: the program. It takes the list of variables and the list of tensors, and returns the list of
            resulting tensors and the list of new values.
    """

    arguments: JSON
    specs: list[TensorSpec]
    outputs: JSON
    output_specs: list[TensorSpec]
    read: list[Any]
    written: list[int]
    serialized: bytes


def export_program(function: Callable[[Any], Any], arguments: Any, name: str) -> SavedProgram:
    """Exports ``function`` for a nest of ``arguments`` with `TensorSpec`s in place of tensors."""
    if context.current_replica() is not None:
        raise RuntimeError("tf.saved_model.save was called inside strategy.run. Call it once, outside.")
    structure, specs = flatten_nest(arguments, lambda leaf: isinstance(leaf, TensorSpec))
    while True:
        shapes = _symbolic_shapes(specs, name, ragged_tensors(structure))
        try:
            traced = _ProgramTrace(lambda tensors: function(unflatten_nest(structure, tensors)), shapes)
            if traced.scope.created:  # layers that were called for the first time have created their variables
                traced = _ProgramTrace(lambda tensors: function(unflatten_nest(structure, tensors)), shapes)
            if traced.scope.created:
                raise ValueError(NEW_VARIABLES.format(name=name, names=[each.path for each in traced.scope.created]))
            if traced.scope.placement is not None:
                raise ValueError(RUNS_REPLICAS)
            lowered = _lower(traced, shapes, name)
            break
        except (jax.errors.InconclusiveDimensionOperation, TypeError, ValueError) as error:
            needed = find_needed_size(str(error))
            if needed is not None:
                specs = _with_size(specs, *needed)
            elif isinstance(error, jax.errors.InconclusiveDimensionOperation):
                raise ValueError(UNKNOWN_SIZES.format(name=name, specs=specs, reason=_first_line(error))) from error
            else:
                raise
    results = [_to_spec(aval) for aval in lowered.out_avals[: len(lowered.out_avals) - len(traced.scope.written)]]
    return SavedProgram(
        structure, specs, traced.outputs, results, traced.variables, traced.written, _serialize(lowered)
    )


class _ProgramTrace:
    """The trace of a function: its jaxpr, the structure of its results, and the variables that it uses."""

    def __init__(self, function: Callable[[list[Any]], Any], shapes: list[Any]) -> None:
        self.scope: SavingScope
        self.outputs: JSON = None

        def trace(tensors: list[Any]) -> Any:
            with SavingScope(jax_hooks.current_trace()) as scope:
                self.outputs, results = flatten_nest(function(tensors), _is_result)
                results = [as_array(leaf) for leaf in results]
            self.scope = scope
            return results, [scope.stored_value(variable) for variable in scope.written.values()]

        self.jaxpr = jax.make_jaxpr(trace)(shapes)
        self.variables = list(self.scope.used.values())
        self.written = [list(self.scope.used).index(key) for key in self.scope.written]

    def program(self, variables: list[Any], tensors: list[Any]) -> tuple[list[Any], list[Any]]:
        """The function that is exported."""
        known = dict(zip(self.scope.used, variables, strict=True))
        flat = jax_hooks.substitute(self.jaxpr, lambda key, like: known[key], tensors)
        num_results = len(flat) - len(self.written)
        return flat[:num_results], flat[num_results:]


def _lower(traced: _ProgramTrace, shapes: list[Any], name: str) -> Any:
    """Lowers for all platforms; for the current one alone if an operation does not exist elsewhere."""
    if traced.jaxpr.effects:
        raise ValueError(CALLS_PYTHON.format(name=name, reason=f"it has the effects {traced.jaxpr.effects}"))
    variables = [jax.ShapeDtypeStruct(tuple(each.shape), each.dtype) for each in traced.variables]
    program = jax.jit(traced.program)
    try:
        return jax.export.export(program, platforms=PLATFORMS)(variables, shapes)
    except NotImplementedError:
        pass
    except ValueError as error:  # it calls a custom target that is not registered by name
        raise ValueError(CALLS_PYTHON.format(name=name, reason=_first_line(error))) from error
    try:
        return jax.export.export(program)(variables, shapes)
    except (NotImplementedError, ValueError) as error:
        raise ValueError(CALLS_PYTHON.format(name=name, reason=_first_line(error))) from error


def _serialize(lowered: Any) -> bytes:
    """Serializes the program, with its derivative if it has one, so that the loaded function can be trained."""
    plain = lowered.serialize()
    try:
        return bytes(lowered.serialize(vjp_order=1))
    except (TypeError, ValueError, NotImplementedError, jax.errors.InconclusiveDimensionOperation):
        return bytes(plain)  # for example a while loop; JAX raises when a gradient of the loaded function is requested


def _symbolic_shapes(specs: Sequence[TensorSpec], name: str, ragged: set[int]) -> list[Any]:
    """The shapes to trace with. Unknown first dims share one symbol: all inputs have the same batch size. Only parts of
    ragged tensors have sizes of their own."""
    scope = jax.export.SymbolicScope()
    shapes = []
    for index, spec in enumerate(specs):
        if as_dtype(spec.dtype) == string:
            raise ValueError(TEXT_INPUT.format(name=name, spec=spec))
        sizes = [
            str(size) if size is not None else "batch" if axis == 0 and index not in ragged else f"size_{index}_{axis}"
            for axis, size in enumerate(spec.shape)
        ]
        shape = jax.export.symbolic_shape(",".join(sizes), scope=scope) if None in spec.shape else tuple(spec.shape)
        shapes.append(jax.ShapeDtypeStruct(shape, to_jax_dtype(spec.dtype)))
    return shapes


def _with_size(specs: Sequence[TensorSpec], index: int, axis: int, size: int) -> list[TensorSpec]:
    """The specs with a size that was unknown."""
    changed = specs[index]
    shape = [size if each == axis else known for each, known in enumerate(changed.shape)]
    return [*specs[:index], TensorSpec(shape, changed.dtype, changed.name), *specs[index + 1 :]]


def _to_spec(aval: Any) -> TensorSpec:
    return TensorSpec([None if jax.export.is_symbolic_dim(size) else size for size in aval.shape], aval.dtype)


def _is_result(leaf: Any) -> bool:
    """Whether a result is stored as a tensor. Numbers are, as in TensorFlow."""
    return isinstance(leaf, jax.Array | np.ndarray | np.generic | keras.Variable | bool | int | float)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
