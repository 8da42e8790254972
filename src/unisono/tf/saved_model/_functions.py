"""The functions of an object: which there are, for which arguments each is saved, and as what."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

from unisono._src.data.dataset import TensorSpec
from unisono._src.state.store import JSON
from unisono._src.tracing import functions
from unisono.tf.saved_model._nests import taken_apart
from unisono.tf.saved_model._programs import Program, exported

_Parameter = inspect.Parameter
_KINDS: Final = {
    kind.name: kind
    for kind in (
        *(_Parameter.POSITIONAL_ONLY, _Parameter.POSITIONAL_OR_KEYWORD, _Parameter.KEYWORD_ONLY),
        *(_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD),
    )
}


def functions_of(thing: Any) -> Iterator[tuple[str, functions.Function]]:
    """The `tf.function`s that are methods or attributes of ``thing``, by name."""
    names = {name for kind in type(thing).__mro__ for name, value in vars(kind).items() if _is_function(value)}
    names |= {name for name, value in vars(thing).items() if _is_function(value)}
    for name in sorted(names):
        value = getattr(thing, name)
        if _is_function(value):
            yield name, value


def saved_kinds(function: functions.Function) -> list[functions.SpecializedFunction]:
    """The function for each kind of arguments for which it is saved.

    That of the input_signature, or else all that it was called with or that somebody asked for, except for those
    with arguments that no file can hold: models, values of replicas.
    """
    if function.input_signature is not None:
        return [function.get_concrete_function()]
    return [kind for kind in function.specializations if _can_be_saved(kind)]


def program_of(kind: functions.SpecializedFunction, name: str) -> Program:
    """The function for one kind of arguments, by the names of its parameters."""
    signature = _signature(kind.function)

    def call(arguments: dict[str, Any]) -> Any:
        bound = inspect.BoundArguments(signature, arguments)
        return kind.function(*bound.args, **bound.kwargs)

    return exported(call, bound_arguments(signature, kind.args, kind.kwargs), name)


def bound_arguments(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    """The arguments by the names of the parameters, defaults included."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def parameters_of(function: functions.Function) -> JSON:
    """The parameters as JSON."""
    return [
        {"name": parameter.name, "kind": parameter.kind.name, "default": _default(parameter)}
        for parameter in _signature(function).parameters.values()
    ]


def signature_of(parameters: JSON) -> inspect.Signature:
    """What :func:`parameters_of` was given. A default that could not be written is one that fits nothing."""
    return inspect.Signature(
        [
            inspect.Parameter(each["name"], _KINDS[each["kind"]], default=_default_of(each["default"]))
            for each in parameters
        ]
    )


def _signature(function: Any) -> inspect.Signature:
    python_function = function.python_function if isinstance(function, functions.Function) else function
    return inspect.signature(python_function)


def _default(parameter: inspect.Parameter) -> JSON:
    if parameter.default is inspect.Parameter.empty:
        return None
    plain = isinstance(parameter.default, bool | int | float | str | None)
    return {"value": parameter.default} if plain else {"other": str(type(parameter.default))}


def _default_of(written: JSON) -> Any:
    if written is None:
        return inspect.Parameter.empty
    return written["value"] if "value" in written else object()


def _is_function(value: Any) -> bool:
    return isinstance(value, functions.Function)


def _can_be_saved(kind: functions.SpecializedFunction) -> bool:
    try:
        taken_apart(bound_arguments(_signature(kind.function), kind.args, kind.kwargs), _is_spec)
    except TypeError:
        return False
    return True


def _is_spec(leaf: Any) -> bool:
    return isinstance(leaf, TensorSpec)
