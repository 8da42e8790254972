"""Rewrites a function so that each `if`, `while` and `for` decides at run time who decides: Python, or the program.

A statement is there in two forms. The *plain* one is the statement as it was written: Python runs it as long as it
knows the values. The *pieces* are functions for its branches, its body, and what follows a jump; they share the names
of the function by `nonlocal`. Once a value is traced, an operator takes the pieces and makes a part of the program of
them:

    if ag__.traced(ag__test := x > 0):
        def ag__then(): ...
        def ag__else(): ...
        ag__.if_(ag__test, ag__then, ag__else, ...)
    elif ag__test:
        ...
    else:
        ...

Inside of a piece there are only pieces: it runs once, while the program is traced. A jump out of a piece is what the
piece returns (:mod:`unisono._src.tracing.control_flow._signals`), and what would follow is a piece too, the *rest*.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from unisono._src.tracing.control_flow._expressions import is_pythons, rewritten, rewritten_test
from unisono._src.tracing.control_flow._jumps import Jump, has_jumping_if, jumps
from unisono._src.tracing.control_flow._liveness import Liveness, Names
from unisono._src.tracing.control_flow._names import (
    Path,
    bound,
    bound_by_others,
    declared,
    mangled,
    mutated_attributes,
    names_in,
    own_nodes,
    set_attributes,
)
from unisono._src.tracing.control_flow._once import once
from unisono._src.tracing.control_flow._regions import Block, Region, Rest
from unisono._src.tracing.control_flow._syntax import (
    assigned,
    called,
    constant,
    defined,
    is_operator,
    located,
    name,
    operation,
    operator,
    while_assigned,
)


class FunctionRewriter:
    """Rewrites one function.

    Args:
        node: its definition.
        class_name: the class around it, whose private names are mangled.
        first_parameter: see :func:`unisono._src.tracing.control_flow._expressions.rewritten`.
    """

    def __init__(self, node: ast.FunctionDef, class_name: str | None, first_parameter: str | None) -> None:
        self._node, self._class_name, self._first_parameter = node, class_name, first_parameter
        self._liveness = Liveness(node.body)
        self._globals, self._nonlocals = declared(node.body, ast.Global), declared(node.body, ast.Nonlocal)
        parameters = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        own = (bound(node.body) | parameters) - self._globals - self._nonlocals
        self._shared = own & bound_by_others(node.body)
        self._locals = own - parameters
        self._count = 0
        self.made: dict[tuple[str, int], Any] = {}

    def rewritten(self) -> ast.FunctionDef:
        """The function, with the same name and parameters."""
        head: Block = []
        if self._globals:
            head.append(ast.Global(sorted(self._globals)))
        if self._nonlocals:
            head.append(ast.Nonlocal(sorted(self._nonlocals)))
        region = Region(end=None, wanted=self._liveness.at_end, in_loop=False)
        node = copy.copy(self._node)
        body = self._node.body
        text = body[:1] if ast.get_docstring(self._node, clean=False) is not None else []
        node.body = [*text, *head, *self._plain(body[len(text) :], region, None)] or [ast.Pass()]
        return node

    # The plain form.

    def _plain(self, block: Sequence[ast.stmt], region: Region, follows: Rest | None) -> Block:
        done: Block = []
        for index, statement in enumerate(block):
            after = list(block[index + 1 :])
            if isinstance(statement, ast.If) and jumps([statement]):
                done += self._plain_jumping_if(statement, after, region, follows)
                if region.end == "END":
                    break
            else:
                done += self._plain_statement(statement, region)
        return done or [ast.Pass() for _ in block[:1]]

    def _plain_statement(self, node: ast.stmt, region: Region) -> Block:
        match node:
            case ast.If():
                return self._plain_if(node, region)
            case ast.While():
                return self._plain_while(node, region)
            case ast.For():
                return self._plain_for(node, region)
            case _:
                return self._other(node, lambda block, inner: self._plain(block, inner, None), region)

    def _plain_if(self, node: ast.If, region: Region) -> Block:
        body, orelse = (self._plain(block, region, None) for block in (node.body, node.orelse))
        test = self._test(node.test)
        if is_pythons(node.test):
            return [ast.copy_location(ast.If(test, body, orelse), node)]
        pieces, (then, otherwise) = self._branches(node, region, None)
        value = self._new("test")
        choice = operation(
            "if_",
            name(value),
            name(then),
            name(otherwise),
            self._changes([*node.body, *node.orelse], self._liveness.after(node)),
            constant(node.lineno),
        )
        return located(
            node,
            ast.If(
                operation("traced", while_assigned(value, test)),
                [*pieces, ast.Expr(choice)],
                [ast.If(name(value), body, orelse)],
            ),
        )

    def _plain_jumping_if(self, node: ast.If, after: Block, region: Region, follows: Rest | None) -> Block:
        test = self._test(node.test)
        if is_pythons(node.test) and not has_jumping_if([*node.body, *node.orelse]):
            body, orelse = (self._plain(block, region, None) for block in (node.body, node.orelse))
            rest = self._plain(after, region, follows) if region.end == "END" else []
            return [ast.copy_location(ast.If(test, body, orelse), node), *rest]
        piece, rest_piece = self._rest(node, after, region, follows)
        body, orelse = (self._plain(block, region, rest_piece) for block in (node.body, node.orelse))
        pieces, branches = self._branches(node, region, rest_piece)
        value = self._new("test")
        jump = self._jump(node, value, branches, rest_piece, region)
        plain: Block = [ast.If(name(value), body, orelse)]
        if region.end == "END":
            plain += self._plain(after, region, follows)
        choice = ast.If(
            operation("traced", while_assigned(value, test)),
            [*pieces, *self._followed(node, jump, region)],
            plain,
        )
        return located(node, piece, choice)

    def _followed(self, node: ast.If, jump: ast.expr, region: Region) -> Block:
        """Python goes where ``jump`` says."""
        if region.end is None:
            return [ast.Return(ast.Attribute(jump, "value", ast.Load()))]
        signal = self._new("signal")
        done: Block = [assigned(signal, operation("known", jump, constant(node.lineno)))]
        returned = ast.Return(ast.Attribute(name(signal), "value", ast.Load()))
        done.append(ast.If(operation("is_returned", name(signal)), [returned], []))
        if region.in_loop:
            done.append(ast.If(is_operator(signal, "BREAK"), [ast.Break()], []))
            done.append(ast.If(is_operator(signal, "CONTINUE"), [ast.Continue()], []))
        return done

    def _plain_while(self, node: ast.While, region: Region) -> Block:
        body = self._plain(node.body, self._loop_region(node), None)
        orelse = self._plain(node.orelse, self._block_region(node.orelse, region), None)
        test = self._test(node.test)
        if is_pythons(node.test):
            return [ast.copy_location(ast.While(test, body, orelse), node)]
        value = self._new("test")
        pieces, turning = self._while_operation(node)
        known = operation("traced", while_assigned(value, test))
        go_on = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), known), name(value)])
        traced = ast.If(operation("traced", name(value)), [*pieces, ast.Expr(turning)], [])
        return located(node, ast.While(go_on, body, [traced, *orelse]))

    def _plain_for(self, node: ast.For, region: Region) -> Block:
        over = self._new("over")
        pieces, turning = self._for_operation(node, name(over))
        inner = self._block_region(node.orelse, region)
        plain = ast.For(
            self._expression(node.target),
            name(over),
            self._plain(node.body, self._loop_region(node), None),
            self._plain(node.orelse, inner, None),
        )
        test = operation("loops", while_assigned(over, self._expression(node.iter)))
        traced = [*pieces, ast.Expr(turning), *self._plain(node.orelse, inner, None)]
        return located(node, ast.If(test, traced, [plain]))

    # The pieces.

    def _pieces(self, block: Sequence[ast.stmt], region: Region, follows: Rest | None) -> Block:
        done: Block = []
        for index, statement in enumerate(block):
            if isinstance(statement, Jump):
                return [*done, ast.copy_location(ast.Return(self._signal(statement)), statement)]
            if isinstance(statement, ast.If) and jumps([statement]):
                return done + self._piece_jumping_if(statement, list(block[index + 1 :]), region, follows)
            done += self._piece_statement(statement, region)
        return done

    def _piece_statement(self, node: ast.stmt, region: Region) -> Block:
        match node:
            case ast.If():
                if is_pythons(node.test):
                    body, orelse = (self._pieces(block, region, None) for block in (node.body, node.orelse))
                    return located(node, ast.If(self._test(node.test), body or [ast.Pass()], orelse))
                pieces, (then, otherwise) = self._branches(node, region, None)
                changes = self._changes([*node.body, *node.orelse], self._liveness.after(node))
                line = constant(node.lineno)
                choice = operation("if_", self._test(node.test), name(then), name(otherwise), changes, line)
                return located(node, *pieces, ast.Expr(choice))
            case ast.While():
                return self._piece_loop(node, *self._while_operation(node), region)
            case ast.For():
                return self._piece_loop(node, *self._for_operation(node, self._expression(node.iter)), region)
            case ast.AnnAssign(target=ast.Name()):  # an annotated name cannot be nonlocal
                if node.value is None:
                    return []
                return located(node, ast.Assign([copy.deepcopy(node.target)], self._expression(node.value)))
            case _:
                return self._other(node, lambda block, inner: self._pieces(block, inner, None), region)

    def _piece_jumping_if(self, node: ast.If, after: Block, region: Region, follows: Rest | None) -> Block:
        piece, rest = self._rest(node, after, region, follows)
        pieces, branches = self._branches(node, region, rest)
        jump = self._jump(node, self._test(node.test), branches, rest, region)
        if region.end != "END":
            return located(node, piece, *pieces, ast.Return(jump))
        signal = self._new("signal")
        at_end = is_operator(signal, "END")
        leave = ast.If(ast.UnaryOp(ast.Not(), at_end), [ast.Return(name(signal))], [])
        return located(node, piece, *pieces, assigned(signal, jump), leave)

    def _piece_loop(self, node: ast.For | ast.While, pieces: Block, turning: ast.expr, region: Region) -> Block:
        signal = self._new("signal")
        done: Block = [*pieces, assigned(signal, turning)]
        if ast.Return in jumps(node.body):
            done.append(ast.If(operation("is_returned", name(signal)), [ast.Return(name(signal))], []))
        if node.orelse:
            orelse = self._pieces(node.orelse, self._block_region(node.orelse, region), None)
            done.append(ast.If(ast.Compare(name(signal), [ast.Is()], [constant(None)]), orelse, []))
        return located(node, *done)

    def _signal(self, node: Jump) -> ast.expr:
        if isinstance(node, ast.Return):
            value = constant(None) if node.value is None else self._expression(node.value)
            return operation("Returned", value)
        return operator("BREAK" if isinstance(node, ast.Break) else "CONTINUE")

    # What both forms use.

    @once
    def _branches(self, node: ast.If, region: Region, rest: Rest | None) -> tuple[Block, tuple[str, str]]:
        then, otherwise = self._new("then"), self._new("else")
        pieces = [
            self._piece(each, block, self._pieces(block, region, rest))
            for each, block in ((then, node.body), (otherwise, node.orelse))
        ]
        return pieces, (then, otherwise)

    @once
    def _rest(self, node: ast.If, after: Block, region: Region, follows: Rest | None) -> tuple[ast.stmt, Rest]:
        rest = Rest(self._new("rest"), [*after, *(follows.statements if follows else [])])
        body = self._pieces(after, region, follows)
        end = operation("Returned", constant(None)) if region.end is None else operator(region.end)
        if not body or not isinstance(body[-1], ast.Return):
            body.append(ast.Return(called(follows.name) if follows else end))
        return self._piece(rest.name, rest.statements, body), rest

    def _jump(
        self, node: ast.If, test: str | ast.expr, branches: tuple[str, str], rest: Rest, region: Region
    ) -> ast.expr:
        own = [*node.body, *node.orelse]
        changes = [
            self._changes(own, self._liveness.after(node)),
            self._changes([*own, *rest.statements], region.wanted),
        ]
        return operation(
            "if_jump",
            name(test) if isinstance(test, str) else test,
            *map(name, branches),
            name(rest.name),
            ast.Tuple([*changes], ast.Load()),
            constant(any(block and isinstance(block[-1], Jump) for block in (node.body, node.orelse))),
            constant(node.lineno),
        )

    @once
    def _while_operation(self, node: ast.While) -> tuple[Block, ast.expr]:
        test, body = self._new("test"), self._new("body")
        inner = self._pieces(node.body, self._loop_region(node), None)
        binds = bool(bound([node.test]))
        if binds:  # what `:=` binds is for the body
            inner = [ast.Expr(self._test(node.test)), *inner]
        pieces = [
            self._piece(test, [node.test], [ast.Return(self._test(node.test))]),
            self._piece(body, [node.test, *node.body], inner),
        ]
        changes = self._loop_changes(node, [node.test, *node.body])
        return pieces, operation("while_", name(test), name(body), constant(binds), *changes)

    def _for_operation(self, node: ast.For, over: ast.expr) -> tuple[Block, ast.expr]:
        target, body, value = self._new("target"), self._new("body"), self._new("value")
        bind = ast.Assign([self._expression(node.target)], name(value))
        pieces = [
            self._piece(target, [node.target], [bind], (value,)),
            self._piece(body, node.body, self._pieces(node.body, self._loop_region(node), None)),
        ]
        changes = self._loop_changes(node, [node.target, *node.body])
        return pieces, operation("for_", over, name(target), name(body), *changes)

    def _loop_changes(self, node: ast.For | ast.While, nodes: Sequence[ast.AST]) -> list[ast.expr]:
        after = self._liveness.after(node) | names_in(node.orelse)
        carried = sorted(bound(nodes) & (self._liveness.turning(node) | after))
        return [
            self._changes(nodes, after),
            constant(tuple(carried)),
            constant(bool(node.orelse)),
            constant(node.lineno),
        ]

    def _loop_region(self, node: ast.For | ast.While) -> Region:
        return Region("CONTINUE", self._liveness.turning(node) | self._liveness.after(node), in_loop=True)

    def _block_region(self, block: Block, region: Region) -> Region:
        return replace(region, end="END", wanted=self._liveness.after_block(block))

    def _other(self, node: ast.stmt, blocks: Callable[[Block, Region], Block], region: Region) -> Block:
        match node:
            case ast.Global() | ast.Nonlocal():
                return []  # at the beginning
            case ast.FunctionDef():
                return [self._function(node)]
            case ast.AsyncFunctionDef() | ast.ClassDef():
                return [copy.deepcopy(node)]
            case ast.Assert():
                changed = rewritten(node, self._first_parameter)
                changed.test = operation("asserted", self._test(node.test), constant(node.lineno))
                return located(node, changed)
        changed_statement = self._without_blocks(node)
        for field, value in ast.iter_fields(node):
            if not isinstance(value, list) or not value:
                continue
            if isinstance(value[0], ast.stmt):
                setattr(changed_statement, field, blocks(value, self._block_region(value, region)) or [ast.Pass()])
            elif isinstance(value[0], ast.ExceptHandler | ast.match_case):
                for old, new in zip(value, getattr(changed_statement, field), strict=True):
                    new.body = blocks(old.body, self._block_region(old.body, region)) or [ast.Pass()]
        return located(node, changed_statement)

    def _without_blocks(self, node: ast.stmt) -> ast.stmt:
        """A copy with its expressions rewritten and nothing in its blocks."""
        shell = copy.copy(node)
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(shell, field, [])
            elif isinstance(value, list) and value and isinstance(value[0], ast.ExceptHandler | ast.match_case):
                handlers = [copy.copy(each) for each in value]
                for handler in handlers:
                    handler.body = []
                setattr(shell, field, handlers)
        return rewritten(shell, self._first_parameter)

    def _function(self, node: ast.FunctionDef) -> ast.stmt:
        """A function inside: rewritten too, unless a decorator may want it as it is."""
        if node.decorator_list or _yields(node):
            return copy.deepcopy(node)
        parameters = [*node.args.posonlyargs, *node.args.args]
        first = parameters[0].arg if parameters and self._first_parameter else None
        changed = FunctionRewriter(node, self._class_name, first).rewritten()
        changed.args = rewritten(node.args, self._first_parameter)
        return changed

    def _piece(self, piece: str, binding: Iterable[ast.AST], body: Block, parameters: tuple[str, ...] = ()) -> ast.stmt:
        names = bound(binding) | self._shared
        head: Block = []
        if names & self._globals:
            head.append(ast.Global(sorted(names & self._globals)))
        if names - self._globals:
            head.append(ast.Nonlocal(sorted(names - self._globals)))
        return defined(piece, parameters, [*head, *body])

    def _changes(self, nodes: Sequence[ast.AST], wanted: Names) -> ast.expr:
        names = bound(nodes)
        attributes, mutated = (
            tuple(sorted(self._mangled(path) for path in paths))
            for paths in (set_attributes(nodes), mutated_attributes(nodes))
        )
        fields = (names, names & wanted, names & self._globals, self._shared, self._locals - wanted)
        return constant((*(tuple(sorted(each)) for each in fields), attributes, mutated))

    def _mangled(self, path: Path) -> Path:
        """The attributes as they are called at run time."""
        return (path[0], *(mangled(each, self._class_name) for each in path[1:]))

    def _expression(self, node: ast.expr) -> ast.expr:
        return rewritten(node, self._first_parameter)

    def _test(self, node: ast.expr) -> ast.expr:
        return rewritten_test(node, self._first_parameter)

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"ag__{kind}_{self._count}"


def _yields(node: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(node.body))
