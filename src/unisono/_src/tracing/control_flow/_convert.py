"""`convert`: makes a function whose control flow works on traced values."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType
from typing import Any, Final

from unisono._src.tracing.control_flow._builtins import BUILTINS
from unisono._src.tracing.control_flow._code_owner import is_unisono_code, is_user_code
from unisono._src.tracing.control_flow._compile import is_rewritten, rewrite_code, rewrite_definition
from unisono._src.tracing.control_flow._errors import SourceLocation
from unisono._src.tracing.control_flow._operators import Operators
from unisono._src.tracing.control_flow._syntax import RUNTIME
from unisono._src.tracing.functions import Function

TOO_LONG = """{function} cannot be converted: too many `elif`s or `return`s follow each other, or too many blocks are
nested. Split it. If Python knows all conditions in it, leave it unconverted: @do_not_convert."""

NO_SOURCE = """{function} cannot be converted: its source is not available, or there is nothing in it to convert."""

# Stored on the function, so that both are released together. Stored together with the function, because
# functools.wraps copies attributes to another one.
_ATTRIBUTE: Final = "__unisono_autograph__"


def convert(function: Any) -> Any:
    """Makes a Python function whose `if`, `while`, `for`, `and`, `or` and `not` work on traced values.

    On known values it behaves as before. On values of a function that is being compiled, choices and loops become
    a part of the program, with the variables that they assign. Functions that it calls are converted as well when they
    are called, unless they belong to an installed package. docs/control-flow.md says what can be written.

    A function whose source is not available, or without control flow, is returned unchanged. So are generators,
    coroutines, and everything that is no Python function.

    >>> import jax.numpy as jnp
    >>> import unisono
    >>> def larger(a, b):
    ...     if a > b:
    ...         return a
    ...     return b
    >>> unisono.function(convert(larger))(jnp.float32(1), jnp.float32(2)).item()
    2.0
    """
    if isinstance(function, MethodType):
        converted = convert(function.__func__)
        return function if converted is function.__func__ else MethodType(converted, function.__self__)
    if type(function) is functools.partial:
        return functools.partial(convert(function.func), *function.args, **function.keywords)
    if isinstance(function, FunctionType):
        return _convert_function(function)
    if isinstance(function, type | BuiltinFunctionType | Function):
        return function
    call = getattr(type(function), "__call__", None)  # noqa: B004
    if isinstance(call, FunctionType) and is_user_code(call.__code__):
        converted = _convert_function(call)
        return function if converted is call else MethodType(converted, function)
    return function


def do_not_convert(function: Any = None) -> Any:
    """Marks a function that is not to be converted: a decorator, with or without parentheses.

    >>> @do_not_convert
    ... def positive(x):
    ...     return x > 0 and x < 1e6
    >>> convert(positive) is positive
    True
    """
    if function is None:
        return do_not_convert
    if isinstance(function, FunctionType):
        setattr(function, _ATTRIBUTE, (function, function))
        return function
    if isinstance(function, type | BuiltinFunctionType | Function):
        return function

    def unconverted(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    functools.update_wrapper(unconverted, function)
    return do_not_convert(unconverted)


def to_code(function: Any) -> str:
    """The source of what :func:`convert` makes of ``function``."""
    function = getattr(function, "python_function", function)
    code = getattr(function, "__code__", None) or getattr(getattr(function, "__func__", None), "__code__", None)
    found = None if code is None else rewrite_definition(_originals.get(code, code))
    if found is None:
        raise ValueError(NO_SOURCE.format(function=getattr(function, "__qualname__", repr(function))))
    return ast.unparse(ast.fix_missing_locations(found.node))


def convert_callee(function: Any) -> Any:
    """What rewritten code calls instead of ``function``."""
    kind = type(function)
    if kind is FunctionType:
        if is_user_code(function.__code__):
            return _convert_function(function)
        return (
            functools.partial(_call_with_converted_arguments, function)
            if is_unisono_code(function.__code__)
            else function
        )
    if kind is MethodType:
        code = getattr(function.__func__, "__code__", None)
        if code is None:
            return function
        if is_user_code(code):
            return convert(function)
        return functools.partial(_call_with_converted_arguments, function) if is_unisono_code(code) else function
    if kind is type or kind is BuiltinFunctionType:
        return BUILTINS.get(function, function)
    if kind is functools.partial:
        return functools.partial(convert_callee(function.func), *function.args, **function.keywords)
    return convert(function)


def _call_with_converted_arguments(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function of Unisono, such as `strategy.run`, which calls the functions that it is given."""
    args = tuple(map(_convert_argument, args))
    return function(*args, **{name: _convert_argument(value) for name, value in kwargs.items()})


def _convert_argument(argument: Any) -> Any:
    if type(argument) is functools.partial:
        return functools.partial(_convert_argument(argument.func), *argument.args, **argument.keywords)
    code = getattr(argument, "__code__", None) if isinstance(argument, FunctionType | MethodType) else None
    return convert(argument) if isinstance(code, CodeType) and is_user_code(code) else argument


def _convert_function(function: FunctionType) -> FunctionType:
    if is_rewritten(function.__code__):
        return function
    owner, converted = function.__dict__.get(_ATTRIBUTE, (None, None))
    if owner is function:
        return converted  # type: ignore[no-any-return]
    converted = _make_converted(function)
    function.__dict__[_ATTRIBUTE] = (function, converted)
    return converted


def _make_converted(function: FunctionType) -> FunctionType:
    code = _get_rewritten_code(function.__code__)
    if code is None:
        return function
    rewritten, operators = code
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(operators)
    closure = tuple(cells[name] for name in rewritten.co_freevars)
    made = FunctionType(rewritten, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__, made.__doc__ = function.__qualname__, function.__module__, function.__doc__
    made.__annotations__ = function.__annotations__
    made.__dict__ = function.__dict__  # the same object: attributes set on either are seen on both
    return made


_codes: dict[tuple[CodeType, str], tuple[CodeType, Operators] | None] = {}
_originals: dict[CodeType, CodeType] = {}


def _get_rewritten_code(code: CodeType) -> tuple[CodeType, Operators] | None:
    """The rewritten code, made once for all functions with this code. Equal code may be in two files."""
    key = (code, code.co_filename)
    if key not in _codes:
        try:
            rewritten = rewrite_code(code)
        except RecursionError:
            location = SourceLocation(code.co_filename, code.co_firstlineno)
            raise location.error(TOO_LONG.format(function=code.co_qualname)) from None
        _codes[key] = None if rewritten is None else (rewritten, Operators(code.co_filename, convert_callee))
        if rewritten is not None:
            _originals[rewritten] = code
    return _codes[key]
