"""Liveness analysis: which names of a function are read at a position in it or later, before they are bound again.

A name that only one branch or one loop uses need not have a value elsewhere. In doubt, a name is live.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from unisono._src.tracing.control_flow._source_names import (
    bound_names,
    declared_names,
    names_in_inner_scopes,
    read_names,
)

_SEES_ALL: Final = frozenset({"locals", "vars", "eval", "exec", "dir"})

Names = frozenset[str]


@dataclass(frozen=True)
class _Targets:
    """What is live where jumps lead to; an error may occur at any time."""

    on_break: Names = frozenset()
    on_continue: Names = frozenset()
    on_error: Names = frozenset()


class Liveness:
    """For one function: what is live after each statement, after each block, and at the start of a loop's iteration."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._always = frozenset(
            names_in_inner_scopes(body) | declared_names(body, ast.Global) | declared_names(body, ast.Nonlocal)
        )
        if read_names(*body) & _SEES_ALL:
            self._always |= read_names(*body) | bound_names(body)
        self._after: dict[int, Names] = {}
        self._at_iteration: dict[int, Names] = {}
        self._after_block: dict[int, Names] = {}
        self._block(body, frozenset(), _Targets())

    @property
    def at_end(self) -> Names:
        """What is live after the function returned: what other code sees."""
        return self._always

    def after(self, statement: ast.stmt) -> Names:
        """What is live after ``statement``."""
        return self._after[id(statement)] | self._always

    def after_block(self, block: Sequence[ast.stmt]) -> Names:
        """What is live after the last statement of ``block``."""
        return self._after_block[id(block)] | self._always

    def at_iteration(self, loop: ast.For | ast.While) -> Names:
        """What is live when an iteration of ``loop`` begins."""
        return self._at_iteration[id(loop)] | self._always

    def _block(self, block: Sequence[ast.stmt], after: Names, targets: _Targets) -> Names:
        """What is live before ``block``, given what is live after it."""
        after |= targets.on_error
        self._after_block[id(block)] = self._after_block.get(id(block), frozenset()) | after
        for statement in reversed(block):
            self._after[id(statement)] = self._after.get(id(statement), frozenset()) | after
            after = self._statement(statement, after, targets) | targets.on_error
        return after

    def _statement(self, node: ast.stmt, after: Names, targets: _Targets) -> Names:
        match node:
            case ast.Return():
                return frozenset(read_names(node.value))
            case ast.Break():
                return targets.on_break
            case ast.Continue():
                return targets.on_continue
            case ast.If():
                branches = self._block(node.body, after, targets) | self._block(node.orelse, after, targets)
                return branches | read_names(node.test)
            case ast.While():
                return self._loop(node, after, targets, read_names(node.test), set())
            case ast.For():
                own = self._loop(node, after, targets, read_names(node.target), bound_names([node.target]))
                return own | read_names(node.iter)
            case ast.With():
                used = read_names(*(item.context_expr for item in node.items))
                names = bound_names(item.optional_vars for item in node.items if item.optional_vars)
                return (self._block(node.body, after, targets) - names) | used
            case ast.Try() | ast.TryStar():
                return self._try(node, after, targets)
            case ast.Match():
                before = after | read_names(node.subject)
                for case in node.cases:
                    before |= read_names(case.pattern, case.guard) | self._block(case.body, after, targets)
                return before
            case ast.AugAssign(target=ast.Name(id=name)):
                return after | read_names(node.value) | {name}
            case ast.Delete():
                return after | bound_names([node]) | read_names(node)
            case _:
                return (after - bound_names([node])) | read_names(node)

    def _loop(
        self, node: ast.For | ast.While, after: Names, targets: _Targets, reads: set[str], binds: set[str]
    ) -> Names:
        ended = self._block(node.orelse, after, targets)
        iterating = ended | reads
        while True:
            # A compiled loop carries a name into the next iteration even if a `break` says that there will be none.
            inner = _Targets(after | iterating, iterating, targets.on_error)
            before = self._block(node.body, iterating, inner)
            again = iterating | (before - binds)
            if again == iterating:
                break
            iterating = again
        self._at_iteration[id(node)] = iterating
        return iterating

    def _try(self, node: ast.Try | ast.TryStar, after: Names, targets: _Targets) -> Names:
        """Any statement of the body may be the last before a handler or `finally`."""
        final = self._block(node.finalbody, after, targets)
        handled: Names = frozenset()
        for handler in node.handlers:
            handled |= self._block(handler.body, final, targets) | read_names(handler.type)
        live = final | handled
        inside = _Targets(targets.on_break | live, targets.on_continue | live, targets.on_error | live)
        return self._block(node.body, self._block(node.orelse, final, inside), inside)
