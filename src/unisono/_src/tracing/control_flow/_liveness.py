"""Which names of a function are still wanted at a place in it: read there or later, before they are bound anew.

A name that a branch or a loop binds for itself alone need not have a value elsewhere. In doubt, a name is wanted.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from unisono._src.tracing.control_flow._names import bound, declared, loaded, read_later

_SEES_ALL: Final = frozenset({"locals", "vars", "eval", "exec", "dir"})

Names = frozenset[str]


@dataclass(frozen=True)
class _Targets:
    """What is wanted where jumps lead to; ``on_error``, which may come at any time."""

    on_break: Names = frozenset()
    on_continue: Names = frozenset()
    on_error: Names = frozenset()


class Liveness:
    """For one function: what is wanted after each statement, after each block, and when a loop turns again."""

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._always = frozenset(read_later(body) | declared(body, ast.Global) | declared(body, ast.Nonlocal))
        if loaded(*body) & _SEES_ALL:
            self._always |= loaded(*body) | bound(body)
        self._after: dict[int, Names] = {}
        self._turning: dict[int, Names] = {}
        self._after_block: dict[int, Names] = {}
        self._block(body, frozenset(), _Targets())

    @property
    def at_end(self) -> Names:
        """What is wanted after the function returned: what others see."""
        return self._always

    def after(self, statement: ast.stmt) -> Names:
        """What is wanted after ``statement``."""
        return self._after[id(statement)] | self._always

    def after_block(self, block: Sequence[ast.stmt]) -> Names:
        """What is wanted after the last statement of ``block``."""
        return self._after_block[id(block)] | self._always

    def turning(self, loop: ast.For | ast.While) -> Names:
        """What is wanted when a turn of ``loop`` begins."""
        return self._turning[id(loop)] | self._always

    def _block(self, block: Sequence[ast.stmt], after: Names, targets: _Targets) -> Names:
        """What is wanted before ``block``, given what is wanted after it."""
        after |= targets.on_error
        self._after_block[id(block)] = self._after_block.get(id(block), frozenset()) | after
        for statement in reversed(block):
            self._after[id(statement)] = self._after.get(id(statement), frozenset()) | after
            after = self._statement(statement, after, targets) | targets.on_error
        return after

    def _statement(self, node: ast.stmt, after: Names, targets: _Targets) -> Names:
        match node:
            case ast.Return():
                return frozenset(loaded(node.value))
            case ast.Break():
                return targets.on_break
            case ast.Continue():
                return targets.on_continue
            case ast.If():
                branches = self._block(node.body, after, targets) | self._block(node.orelse, after, targets)
                return branches | loaded(node.test)
            case ast.While():
                return self._loop(node, after, targets, loaded(node.test), set())
            case ast.For():
                own = self._loop(node, after, targets, loaded(node.target), bound([node.target]))
                return own | loaded(node.iter)
            case ast.With():
                used = loaded(*(item.context_expr for item in node.items))
                names = bound(item.optional_vars for item in node.items if item.optional_vars)
                return (self._block(node.body, after, targets) - names) | used
            case ast.Try() | ast.TryStar():
                return self._try(node, after, targets)
            case ast.Match():
                before = after | loaded(node.subject)
                for case in node.cases:
                    before |= loaded(case.pattern, case.guard) | self._block(case.body, after, targets)
                return before
            case ast.AugAssign(target=ast.Name(id=name)):
                return after | loaded(node.value) | {name}
            case ast.Delete():
                return after | bound([node]) | loaded(node)
            case _:
                return (after - bound([node])) | loaded(node)

    def _loop(
        self, node: ast.For | ast.While, after: Names, targets: _Targets, reads: set[str], binds: set[str]
    ) -> Names:
        ended = self._block(node.orelse, after, targets)
        turning = ended | reads
        while True:
            # A compiled loop carries a name into the next turn even if a `break` says that there will be none.
            inner = _Targets(after | turning, turning, targets.on_error)
            before = self._block(node.body, turning, inner)
            again = turning | (before - binds)
            if again == turning:
                break
            turning = again
        self._turning[id(node)] = turning
        return turning

    def _try(self, node: ast.Try | ast.TryStar, after: Names, targets: _Targets) -> Names:
        """Any statement of the body may be the last before a handler or `finally`."""
        final = self._block(node.finalbody, after, targets)
        handled: Names = frozenset()
        for handler in node.handlers:
            handled |= self._block(handler.body, final, targets) | loaded(handler.type)
        wanted = final | handled
        inside = _Targets(targets.on_break | wanted, targets.on_continue | wanted, targets.on_error | wanted)
        return self._block(node.body, self._block(node.orelse, final, inside), inside)
