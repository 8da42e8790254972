"""`tf.experimental.dispatch_for_api`: functions of the user in place of those of the namespace, for ExtensionTypes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any, Final

from unisono.tf._composite import register_handlers
from unisono.tf._op import get_op, public_name
from unisono.tf.experimental._extension_type import ExtensionType
from unisono.tf.ragged._dispatch import BINARY_ELEMENTWISE, UNARY_ELEMENTWISE

NOT_AN_API = "{call}: {api!r} is not a function of tf that can be replaced."
NO_SIGNATURE = """{call}: which arguments are of which type? Annotate the function, or pass a dict:
@tf.experimental.dispatch_for_api(tf.add, {{"x": MyType, "y": MyType}})."""

_Rule = tuple[dict[str, Any], Callable[..., Any]]
_rules: Final[dict[str, list[_Rule]]] = {}
_elementwise_rules: Final[dict[str, list[_Rule]]] = {}  # asked after those for one function


def dispatch_for_api(api: Any, *signatures: dict[Any, Any]) -> Callable[[Any], Any]:
    """Calls the decorated function instead of ``api`` for arguments of these types.

    Args:
        api: a function of `tf`, such as `tf.add`.
        *signatures: the types of arguments by name or position; if there are none, the annotations of the function.
    """
    key = _key(api, "dispatch_for_api")

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        given = signatures or (_annotations(function),)
        names = list(inspect.signature(api).parameters)
        for signature in given:
            if not signature:
                raise ValueError(NO_SIGNATURE.format(call="dispatch_for_api"))
            by_name = {names[each] if isinstance(each, int) else each: kind for each, kind in signature.items()}
            _add_rule(_rules, key, by_name, function)
        return function

    return decorate


def dispatch_for_unary_elementwise_apis(x_type: Any) -> Callable[[Any], Any]:
    """Calls the decorated function, with the function of `tf` and its argument, for each that acts on each value."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for key in UNARY_ELEMENTWISE:
            _add_rule(_elementwise_rules, key, {_parameter_name(key, 0): x_type}, _with_api(function, key, 1))
        return function

    return decorate


def dispatch_for_binary_elementwise_apis(x_type: Any, y_type: Any) -> Callable[[Any], Any]:
    """Calls the decorated function, with the function of `tf` and two arguments, for each that combines two values."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for key in BINARY_ELEMENTWISE:
            types = {_parameter_name(key, 0): x_type, _parameter_name(key, 1): y_type}
            _add_rule(_elementwise_rules, key, types, _with_api(function, key, 2))
        return function

    return decorate


def unregister_dispatch_for(dispatch_target: Callable[..., Any]) -> None:
    """From now on the function is no longer called."""
    for rules in (*_rules.values(), *_elementwise_rules.values()):
        rules[:] = [rule for rule in rules if getattr(rule[1], "target", rule[1]) is not dispatch_target]


def _add_rule(rules: dict[str, list[_Rule]], key: str, types: dict[str, Any], function: Callable[..., Any]) -> None:
    rules.setdefault(key, []).insert(0, (types, function))  # the newest is asked first
    for kind in types.values():
        for each in _classes(kind):
            register_handlers(each, {key: _choose_rule(key)})


def _choose_rule(key: str) -> Callable[..., Any]:
    api = get_op(key)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(api).bind(*args, **kwargs).arguments
        for types, function in (*_rules.get(key, ()), *_elementwise_rules.get(key, ())):
            if all(name in given and _is_instance(given[name], kind) for name, kind in types.items()):
                return function(*args, **kwargs)
        kinds = {name: type(value).__name__ for name, value in given.items()}
        raise TypeError(f"tf.{key}: no function was registered for arguments of these types: {kinds}.")

    return call


def _with_api(function: Callable[..., Any], key: str, count: int) -> Callable[..., Any]:
    """Passes the function of `tf` first; more arguments, such as a dtype, are bound to it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        api = get_op(key)
        more = args[count:]
        bound = api if not more and not kwargs else (lambda *values: api(*values, *more, **kwargs))
        return function(bound, *args[:count])

    call.target = function  # type: ignore[attr-defined]
    return call


def _key(api: Any, call: str) -> str:
    wrapped = getattr(api, "__wrapped__", None)
    name = None if wrapped is None else public_name(wrapped)
    try:
        found = None if name is None else get_op(name)
    except KeyError:
        found = None
    if name is None or found is not api:
        raise ValueError(NOT_AN_API.format(call=call, api=api))
    return name


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function)
    return {name: kind for name, kind in hints.items() if name != "return" and list(_classes(kind))}


def _parameter_name(key: str, position: int) -> str:
    return list(inspect.signature(get_op(key)).parameters)[position]


def _classes(kind: Any) -> list[type]:
    """The ExtensionTypes in an annotation."""
    arguments = typing.get_args(kind)
    if arguments:
        return [each for argument in arguments for each in _classes(argument)]
    return [kind] if isinstance(kind, type) and issubclass(kind, ExtensionType) else []


def _is_instance(value: Any, kind: Any) -> bool:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (list, tuple):
        return isinstance(value, list | tuple) and all(_is_instance(each, arguments[0]) for each in value)
    if arguments:
        return any(_is_instance(value, each) for each in arguments)
    return kind is Any or isinstance(value, kind)
