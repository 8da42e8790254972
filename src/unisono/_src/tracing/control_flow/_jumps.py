"""Which statements leave a block before its end."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from unisono._src.tracing.control_flow._names import Scopes, own_nodes

Jump = ast.Return | ast.Break | ast.Continue


def jumps(block: Sequence[ast.stmt]) -> set[type[ast.stmt]]:
    """The kinds of jumps out of ``block``: a `break` inside of a loop in it is none."""
    return {kind for statement in block for kind in _of(statement)}


def _of(node: ast.AST) -> set[type[ast.stmt]]:
    if isinstance(node, Jump):
        return {type(node)}
    if isinstance(node, Scopes | ast.expr):
        return set()
    if isinstance(node, ast.For | ast.While):
        return (jumps(node.body) & {ast.Return}) | jumps(node.orelse)
    return {kind for child in ast.iter_child_nodes(node) for kind in _of(child)}


def has_jumping_if(block: Sequence[ast.stmt]) -> bool:
    """Whether there is an `if` in ``block`` that leaves something before its end."""
    return any(isinstance(node, ast.If) and jumps([node]) for node in own_nodes(block))
