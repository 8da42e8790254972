"""Finds the `tf.function`s of an object, and exports each for the arguments it is saved for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from unisono._src.data.dataset import TensorSpec
from unisono._src.state.store import JSON
from unisono._src.tracing import functions
from unisono.tf._shape import TensorShape
from unisono.tf.saved_model._nests import flatten_nest, unflatten_nest
from unisono.tf.saved_model._programs import SavedProgram, export_program

UNKNOWN_RANK = """{name} cannot be saved for inputs of unknown rank: no program can be made for 0 to {most} dims. Call
it once before, so that the shape is known, or give it an input_signature with one: tf.TensorSpec([None, 28, 28]).
For {most} dims: {reason}"""

# A program has a fixed rank. Images in batches have 4 dims, videos have 5.
_MAX_RANK: Final = 5

_Parameter = inspect.Parameter
_PARAMETER_KINDS: Final = {
    kind.name: kind
    for kind in (
        *(_Parameter.POSITIONAL_ONLY, _Parameter.POSITIONAL_OR_KEYWORD, _Parameter.KEYWORD_ONLY),
        *(_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD),
    )
}


def iter_functions(obj: Any) -> Iterator[tuple[str, functions.Function]]:
    """Yields the `tf.function`s that are methods or attributes of ``obj``, with their names."""
    names = {name for kind in type(obj).__mro__ for name, value in vars(kind).items() if _is_function(value)}
    names |= {name for name, value in vars(obj).items() if _is_function(value)}
    for name in sorted(names):
        value = getattr(obj, name)
        if _is_function(value):
            yield name, value


def saveable_specializations(function: functions.Function) -> list[functions.SpecializedFunction]:
    """The specializations of a function that are saved.

    That of the input_signature; without one all that were called or requested, except those with arguments that cannot
    be stored, such as models and per-replica values.
    """
    if function.input_signature is not None:
        return [function.get_concrete_function()]
    return [each for each in function.specializations if _is_saveable(each)]


def export_specialization(specialization: functions.SpecializedFunction, name: str) -> list[SavedProgram]:
    """Exports a specialization as a program whose arguments are named after the function's parameters.

    For inputs of unknown rank there are several programs, one for each rank, unless it was called before.
    """
    signature = _signature(specialization.function)

    def call(arguments: dict[str, Any]) -> Any:
        bound = inspect.BoundArguments(signature, arguments)
        return specialization.function(*bound.args, **bound.kwargs)

    arguments = bind_arguments(signature, specialization.args, specialization.kwargs)
    called = _find_called(specialization, signature)
    narrowed = None if called is None else _narrow(arguments, called)
    if any(map(_has_unknown_rank, _specs_in(arguments))):
        return _export_ranks(call, arguments, name) if narrowed is None else [export_program(call, narrowed, name)]
    try:
        return [export_program(call, arguments, name)]
    except (TypeError, ValueError):
        if narrowed is None:
            raise
    return [export_program(call, narrowed, name)]


def _export_ranks(call: Callable[[Any], Any], arguments: Any, name: str) -> list[SavedProgram]:
    """A program for each rank that the function accepts. Inputs of unknown rank have the same one."""
    structure, specs = flatten_nest(arguments, _is_spec)
    programs, reason = [], ""
    for rank in range(_MAX_RANK + 1):
        ranked = [
            TensorSpec([None] * rank, each.dtype, each.name) if _has_unknown_rank(each) else each for each in specs
        ]
        try:
            programs.append(export_program(call, unflatten_nest(structure, ranked), name))
        except (TypeError, ValueError, IndexError) as error:
            reason = str(error)
    if not programs:
        raise ValueError(UNKNOWN_RANK.format(name=name, most=_MAX_RANK, reason=reason))
    return programs


def _has_unknown_rank(spec: TensorSpec) -> bool:
    return TensorShape(spec.shape).rank is None


def _find_called(specialization: functions.SpecializedFunction, signature: inspect.Signature) -> Any:
    """The arguments of the last call, as specs with their sizes; None if there was no call with such arguments."""
    function = specialization.function
    for each in reversed(function.specializations if isinstance(function, functions.Function) else []):
        arguments = bind_arguments(signature, each.args, each.kwargs)
        if _is_saveable(each) and all(TensorShape(spec.shape).is_fully_defined() for spec in _specs_in(arguments)):
            return arguments
    return None


def _narrow(arguments: Any, called: Any) -> Any:
    """``arguments`` with the sizes of a call, except for the size of the batch; None if the structures differ.

    A model that was built for 784 features has no program for any number of them, as TensorFlow's graphs have.
    """
    structure, specs = flatten_nest(arguments, _is_spec)
    other, found = flatten_nest(called, _is_spec)
    if structure != other or all(None not in spec.shape[1:] and TensorShape(spec.shape).rank for spec in specs):
        return None
    return unflatten_nest(structure, [_narrow_spec(*pair) for pair in zip(specs, found, strict=True)])


def _narrow_spec(spec: TensorSpec, found: TensorSpec) -> TensorSpec:
    batch = [None] if spec.shape and spec.shape[0] is None else found.shape[:1]
    return TensorSpec([*batch, *found.shape[1:]], spec.dtype, spec.name)


def _specs_in(arguments: Any) -> list[TensorSpec]:
    specs: list[TensorSpec] = flatten_nest(arguments, _is_spec)[1]
    return specs


def bind_arguments(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments by parameter name, defaults included."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def parameters_to_json(function: functions.Function) -> JSON:
    """Describes the parameters as JSON."""
    return [
        {"name": parameter.name, "kind": parameter.kind.name, "default": _default_to_json(parameter)}
        for parameter in _signature(function).parameters.values()
    ]


def signature_from_json(parameters: JSON) -> inspect.Signature:
    """The inverse of :func:`parameters_to_json`. A default that was not stored becomes an object that fits nothing."""
    return inspect.Signature(
        [
            inspect.Parameter(each["name"], _PARAMETER_KINDS[each["kind"]], default=_default_from_json(each["default"]))
            for each in parameters
        ]
    )


def _signature(function: Any) -> inspect.Signature:
    python_function = function.python_function if isinstance(function, functions.Function) else function
    return inspect.signature(python_function)


def _default_to_json(parameter: inspect.Parameter) -> JSON:
    if parameter.default is inspect.Parameter.empty:
        return None
    is_plain = isinstance(parameter.default, bool | int | float | str | None)
    return {"value": parameter.default} if is_plain else {"other": str(type(parameter.default))}


def _default_from_json(stored: JSON) -> Any:
    if stored is None:
        return inspect.Parameter.empty
    return stored["value"] if "value" in stored else object()


def _is_function(value: Any) -> bool:
    return isinstance(value, functions.Function)


def _is_saveable(specialization: functions.SpecializedFunction) -> bool:
    try:
        flatten_nest(
            bind_arguments(_signature(specialization.function), specialization.args, specialization.kwargs), _is_spec
        )
    except TypeError:
        return False
    return True


def _is_spec(leaf: Any) -> bool:
    return isinstance(leaf, TensorSpec)
