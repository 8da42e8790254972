"""Rewrites expressions with control flow: `and`, `or`, `not`, `a if b else c`, `a < b < c`, and calls."""

from __future__ import annotations

import ast
import copy
from typing import Final, TypeVar

from unisono._src.tracing.control_flow._source_names import own_nodes
from unisono._src.tracing.control_flow._syntax import constant, name, runtime_call, thunk

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


def rewrite_node(node: _Node, first_parameter: str | None) -> _Node:
    """A copy of an expression, or of a statement without blocks, whose control flow is decided at run time.

    ``first_parameter`` is that of the method around it, for `super()`; None outside methods.
    """
    changed: _Node = _Rewriter(first_parameter).visit(copy.deepcopy(node))
    return changed


def rewrite_condition(node: ast.expr, first_parameter: str | None) -> ast.expr:
    """The same for a condition, of which only the truth matters."""
    return _Rewriter(first_parameter).rewrite_condition(copy.deepcopy(node))


def is_python_condition(test: ast.expr) -> bool:
    """Whether the source shows that Python can decide a condition: a constant, or `a is b`."""
    match test:
        case ast.Constant():
            return True
        case ast.Compare():
            return all(isinstance(each, ast.Is | ast.IsNot) for each in test.ops) and len(test.ops) == 1
        case ast.UnaryOp(op=ast.Not()):
            return is_python_condition(test.operand)
        case ast.BoolOp():
            return all(map(is_python_condition, test.values))
    return False


class _Rewriter(ast.NodeTransformer):
    def __init__(self, first_parameter: str | None) -> None:
        self._first_parameter = first_parameter

    def rewrite_condition(self, node: ast.expr) -> ast.expr:
        """Rewrites a condition."""
        changed: ast.expr = self._bool_op(node, is_test=True) if isinstance(node, ast.BoolOp) else self.visit(node)
        return changed

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return self._bool_op(node, is_test=False)

    def _bool_op(self, node: ast.BoolOp, is_test: bool) -> ast.expr:
        unchanged = is_python_condition(node) or _binds(*node.values[1:])
        node.values = [self.rewrite_condition(value) if is_test else self.visit(value) for value in node.values]
        if unchanged:
            return node
        first, *rest = map(thunk, node.values)
        method = "and_" if isinstance(node.op, ast.And) else "or_"
        named = {"is_test": constant(is_test), "line": constant(node.lineno)}
        return ast.copy_location(runtime_call(method, first.body, *rest, **named), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        unchanged = not isinstance(node.op, ast.Not) or is_python_condition(node)
        node.operand = (
            self.rewrite_condition(node.operand) if isinstance(node.op, ast.Not) else self.visit(node.operand)
        )
        return node if unchanged else ast.copy_location(runtime_call("not_", node.operand, constant(node.lineno)), node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        unchanged = is_python_condition(node.test) or _binds(node.body, node.orelse)
        node.test, node.body, node.orelse = (
            self.rewrite_condition(node.test),
            self.visit(node.body),
            self.visit(node.orelse),
        )
        if unchanged:
            return node
        changed = runtime_call("choice", node.test, thunk(node.body), thunk(node.orelse), constant(node.lineno))
        return ast.copy_location(changed, node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        unchanged = len(node.ops) == 1 or _binds(*node.comparators)
        self.generic_visit(node)
        if unchanged:
            return node
        pairs = [
            ast.Tuple([constant(_SYMBOLS[type(each)]), thunk(right)], ast.Load())
            for each, right in zip(node.ops, node.comparators, strict=True)
        ]
        return ast.copy_location(runtime_call("compare", node.left, *pairs, line=constant(node.lineno)), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        is_super = isinstance(node.func, ast.Name) and node.func.id == "super"
        self.generic_visit(node)
        if not is_super:
            node.func = ast.copy_location(runtime_call("call", node.func), node.func)
        elif not node.args and not node.keywords and self._first_parameter:
            node.args = [name("__class__"), name(self._first_parameter)]  # block functions have no first parameter
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
    """Whether they have a `:=`: in a lambda it would bind another name."""
    return any(isinstance(node, ast.NamedExpr) for node in own_nodes(expressions))
