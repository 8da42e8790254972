"""Expressions that decide: `and`, `or`, `not`, `a if b else c`, `a < b < c`, and what is called."""

from __future__ import annotations

import ast
import copy
from typing import Final, TypeVar

from unisono._src.tracing.control_flow._names import own_nodes
from unisono._src.tracing.control_flow._syntax import constant, name, operation, thunk

_Node = TypeVar("_Node", bound=ast.AST)

_SYMBOLS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}


def rewritten(node: _Node, first_parameter: str | None) -> _Node:
    """A copy of an expression, or of a statement without blocks, whose decisions are made at run time.

    ``first_parameter`` is that of the method around it, for `super()`; None outside of methods.
    """
    changed: _Node = _Rewriter(first_parameter).visit(copy.deepcopy(node))
    return changed


def rewritten_test(node: ast.expr, first_parameter: str | None) -> ast.expr:
    """The same for a condition, of which only the truth matters."""
    return _Rewriter(first_parameter).test(copy.deepcopy(node))


def is_pythons(test: ast.expr) -> bool:
    """Whether a condition can be seen to be Python's alone: a constant, or `a is b`."""
    match test:
        case ast.Constant():
            return True
        case ast.Compare():
            return all(isinstance(each, ast.Is | ast.IsNot) for each in test.ops) and len(test.ops) == 1
        case ast.UnaryOp(op=ast.Not()):
            return is_pythons(test.operand)
        case ast.BoolOp():
            return all(map(is_pythons, test.values))
    return False


class _Rewriter(ast.NodeTransformer):
    def __init__(self, first_parameter: str | None) -> None:
        self._first_parameter = first_parameter

    def test(self, node: ast.expr) -> ast.expr:
        """Rewrites a condition."""
        changed: ast.expr = self._bool_op(node, is_test=True) if isinstance(node, ast.BoolOp) else self.visit(node)
        return changed

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._bool_op(node, is_test=False)

    def _bool_op(self, node: ast.BoolOp, is_test: bool) -> ast.expr:
        keep = is_pythons(node) or _binds(*node.values[1:])
        node.values = [self.test(value) if is_test else self.visit(value) for value in node.values]
        if keep:
            return node
        first, *others = map(thunk, node.values)
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        named = {"is_test": constant(is_test), "line": constant(node.lineno)}
        return ast.copy_location(operation(method, first.body, *others, **named), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        keep = not isinstance(node.op, ast.Not) or is_pythons(node)
        node.operand = self.test(node.operand) if isinstance(node.op, ast.Not) else self.visit(node.operand)
        return node if keep else ast.copy_location(operation("not_", node.operand, constant(node.lineno)), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        keep = is_pythons(node.test) or _binds(node.body, node.orelse)
        node.test, node.body, node.orelse = self.test(node.test), self.visit(node.body), self.visit(node.orelse)
        if keep:
            return node
        changed = operation("choice", node.test, thunk(node.body), thunk(node.orelse), constant(node.lineno))
        return ast.copy_location(changed, node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        keep = len(node.ops) == 1 or _binds(*node.comparators)
        self.generic_visit(node)
        if keep:
            return node
        pairs = [
            ast.Tuple([constant(_SYMBOLS[type(each)]), thunk(right)], ast.Load())
            for each, right in zip(node.ops, node.comparators, strict=True)
        ]
        return ast.copy_location(operation("compare", node.left, *pairs, line=constant(node.lineno)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
        self.generic_visit(node)
        if not is_super:
            node.func = ast.copy_location(operation("call", node.func), node.func)
        elif not node.args and not node.keywords and self._first_parameter:
            node.args = [name("__class__"), name(self._first_parameter)]  # pieces have no first parameter
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        node.args = self.visit(node.args)
        parameters = [*node.args.posonlyargs, *node.args.args]
        inner = parameters[0].arg if parameters and self._first_parameter else None
        node.body = _Rewriter(inner).visit(node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node


def _binds(*expressions: ast.expr) -> bool:
    """Whether `:=` is in them: in a lambda it would bind another name."""
    return any(isinstance(node, ast.NamedExpr) for node in own_nodes(expressions))
