"""Small pieces of syntax, of which rewritten code is made."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Final, TypeVar

_Definition = TypeVar("_Definition", ast.FunctionDef, ast.ClassDef)

RUNTIME: Final = "ag__"
"""The name by which rewritten code knows its :class:`Operators`."""


def name(text: str) -> ast.Name:
    """The value of a name."""
    return ast.Name(text, ast.Load())


def constant(value: Any) -> ast.Constant:
    """A number, a text, or a tuple of such."""
    return ast.Constant(value)


def operator(method: str) -> ast.Attribute:
    """`ag__.method`."""
    return ast.Attribute(name(RUNTIME), method, ast.Load())


def operation(method: str, *arguments: ast.expr, **named: ast.expr) -> ast.Call:
    """`ag__.method(arguments)`."""
    return ast.Call(operator(method), list(arguments), [ast.keyword(key, value) for key, value in named.items()])


def called(function: str) -> ast.Call:
    """`function()`."""
    return ast.Call(name(function), [], [])


def thunk(expression: ast.expr) -> ast.Lambda:
    """`lambda: expression`."""
    return ast.Lambda(_arguments(()), expression)


def assigned(target: str, value: ast.expr) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([ast.Name(target, ast.Store())], value)


def while_assigned(target: str, value: ast.expr) -> ast.NamedExpr:
    """`target := value`."""
    return ast.NamedExpr(ast.Name(target, ast.Store()), value)


def is_operator(value: str, method: str) -> ast.Compare:
    """`value is ag__.method`."""
    return ast.Compare(name(value), [ast.Is()], [operator(method)])


def defined(function: str, parameters: Iterable[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """`def function(parameters): body`."""
    return with_type_parameters(ast.FunctionDef(function, _arguments(parameters), body or [ast.Pass()], []))


def with_type_parameters(node: _Definition) -> _Definition:
    """``node`` with the empty list of type parameters that Python wants since 3.12."""
    if "type_params" in node._fields:
        node.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return node


def located(node: ast.stmt, *statements: ast.stmt) -> list[ast.stmt]:
    """The statements, at the place of ``node``. What is in them has no place yet: it is theirs."""
    for statement in statements:
        if not hasattr(statement, "lineno"):
            ast.copy_location(statement, node)
    return list(statements)


def _arguments(parameters: Iterable[str]) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[], args=[ast.arg(each) for each in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
