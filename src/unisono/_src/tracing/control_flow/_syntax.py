"""Constructors of syntax nodes, for rewritten code."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, Final, TypeVar

_Definition = TypeVar("_Definition", ast.FunctionDef, ast.ClassDef)

RUNTIME: Final = "ag__"
"""The name of the :class:`Operators` in rewritten code."""


def name(text: str) -> ast.Name:
    """The value of a name."""
    return ast.Name(text, ast.Load())


def constant(value: Any) -> ast.Constant:
    """A number, text, or a tuple of such."""
    return ast.Constant(value)


def runtime_attribute(method: str) -> ast.Attribute:
    """`ag__.method`."""
    return ast.Attribute(name(RUNTIME), method, ast.Load())


def runtime_call(method: str, *arguments: ast.expr, **named: ast.expr) -> ast.Call:
    """`ag__.method(arguments)`."""
    return ast.Call(
        runtime_attribute(method), list(arguments), [ast.keyword(key, value) for key, value in named.items()]
    )


def call(function: str) -> ast.Call:
    """`function()`."""
    return ast.Call(name(function), [], [])


def thunk(expression: ast.expr) -> ast.Lambda:
    """`lambda: expression`."""
    return ast.Lambda(_arguments(()), expression)


def assign(target: str, value: ast.expr) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([ast.Name(target, ast.Store())], value)


def assign_expression(target: str, value: ast.expr) -> ast.NamedExpr:
    """`target := value`."""
    return ast.NamedExpr(ast.Name(target, ast.Store()), value)


def is_runtime_attribute(value: str, method: str) -> ast.Compare:
    """`value is ag__.method`."""
    return ast.Compare(name(value), [ast.Is()], [runtime_attribute(method)])


def define_function(function: str, parameters: Iterable[str], body: list[ast.stmt]) -> ast.FunctionDef:
    """`def function(parameters): body`."""
    return with_type_parameters(ast.FunctionDef(function, _arguments(parameters), body or [ast.Pass()], []))


def with_type_parameters(node: _Definition) -> _Definition:
    """``node`` with the empty list of type parameters that Python requires since 3.12."""
    if "type_params" in node._fields:
        node.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return node


def set_location(node: ast.stmt, *statements: ast.stmt) -> list[ast.stmt]:
    """The statements, with the location of ``node`` where they have none. Their children get it from them later."""
    for statement in statements:
        if not hasattr(statement, "lineno"):
            ast.copy_location(statement, node)
    return list(statements)


def _arguments(parameters: Iterable[str]) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[], args=[ast.arg(each) for each in parameters], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
