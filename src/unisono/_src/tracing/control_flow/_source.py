"""Finds the definition of a function in the user's file from its code object."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

Node = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Definition:
    """A function as it was written.

    Attributes:
        node: its syntax.
        class_name: the innermost class around it, whose private names are mangled; None outside classes.
    """

    node: Node
    class_name: str | None


def find_definition(code: CodeType) -> Definition | None:
    """The definition that ``code`` was compiled from; None if there is no source."""
    try:
        lines, _ = inspect.findsource(code)
    except (OSError, TypeError):  # typed in, or created by exec
        return None
    found = [
        each for each in _definitions_by_line("".join(lines)).get(code.co_firstlineno, []) if _matches(each.node, code)
    ]
    return min(found, key=lambda each: _size(each.node)) if found else None


@functools.lru_cache(maxsize=32)
def _definitions_by_line(text: str) -> dict[int, list[Definition]]:
    """All definitions in a file, by their first line."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # the file has changed since it was imported
        return {}
    lines: dict[int, list[Definition]] = {}
    for definition in _iterate_definitions(tree, None):
        lines.setdefault(_first_line(definition.node), []).append(definition)
    return lines


def _iterate_definitions(node: ast.AST, class_name: str | None) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Node):
            yield Definition(child, class_name)
        yield from _iterate_definitions(child, child.name if isinstance(child, ast.ClassDef) else class_name)


def _matches(node: Node, code: CodeType) -> bool:
    if not _same_parameters(node.args, code):
        return False
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and _contains_all_instructions(node.body, code)
    return node.name == code.co_name


def _first_line(node: Node) -> int:
    """Its first line by Python's count, which includes decorators."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _same_parameters(arguments: ast.arguments, code: CodeType) -> bool:
    named = [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    rest = [each.arg for each in (arguments.vararg, arguments.kwarg) if each]
    there = code.co_varnames[: len(named) + len(rest)]
    return len(named) == code.co_argcount + code.co_kwonlyargcount and all(
        have == want or (want.startswith("__") and have.endswith(want))  # mangled
        for have, want in zip(there, [*named, *rest], strict=False)
    )


def _contains_all_instructions(body: ast.expr, code: CodeType) -> bool:
    """Whether all instructions come from ``body``: several lambdas may be on one line."""
    positions = [position for position in code.co_positions() if None not in position]
    begin, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    return bool(positions) and all(
        begin <= (line or 0, column or 0) and (end_line or 0, end_column or 0) <= end
        for line, end_line, column, end_column in positions
        if (line, column) != (code.co_firstlineno, 0)  # instructions without a position in the source
    )


def _size(node: Node) -> int:
    return sum(1 for _ in ast.walk(node))
