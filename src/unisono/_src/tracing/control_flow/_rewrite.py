"""Rewrites a function so that each `if`, `while` and `for` finds out at run time whether Python or the program decides.

A statement is there in two forms. The *Python form* is the statement as it was written: Python runs it as long as the
values are known. The *traced form* consists of functions for its branches, its body, and what then a jump; these
*block functions* share the names of the function through `nonlocal`. Once a value is traced, an operator takes the
block functions and makes a part of the program of them:

    if ag__.traced(ag__test := x > 0):
        def ag__then(): ...
        def ag__else(): ...
        ag__.if_(ag__test, ag__then, ag__else, ...)
    elif ag__test:
        ...
    else:
        ...

Inside a block function there are only traced forms: it runs once, while the program is traced. A jump out of a block
function is what the function returns (:mod:`unisono._src.tracing.control_flow._signals`), and what would follow is a
block function too, the *continuation*.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

from unisono._src.tracing.control_flow._expressions import is_python_condition, rewrite_condition, rewrite_node
from unisono._src.tracing.control_flow._function_scope import Block, Continuation, FunctionScope, Region
from unisono._src.tracing.control_flow._source_names import Jump, bound_names, has_jumping_if, jumps, own_nodes
from unisono._src.tracing.control_flow._statement_cache import cached_by_statement
from unisono._src.tracing.control_flow._syntax import (
    assign,
    assign_expression,
    call,
    constant,
    is_runtime_attribute,
    name,
    runtime_attribute,
    runtime_call,
    set_location,
)


class FunctionRewriter:
    """Rewrites one function.

    Args:
        node: its definition.
        class_name: the class around it, whose private names are mangled.
        first_parameter: see :func:`unisono._src.tracing.control_flow._expressions.rewrite_node`.
    """

    def __init__(self, node: ast.FunctionDef, class_name: str | None, first_parameter: str | None) -> None:
        self._node, self._class_name, self._first_parameter = node, class_name, first_parameter
        self._scope = FunctionScope(node, class_name)
        self.cache: dict[tuple[str, int], Any] = {}

    def rewrite(self) -> ast.FunctionDef:
        """The function, with the same name and parameters."""
        node = copy.copy(self._node)
        body = self._node.body
        docstring = body[:1] if ast.get_docstring(self._node, clean=False) is not None else []
        statements = self._python_block(body[len(docstring) :], self._scope.function_region(), None)
        node.body = [*docstring, *self._scope.declarations(), *statements] or [ast.Pass()]
        return node

    # The Python form.

    def _python_block(self, block: Sequence[ast.stmt], region: Region, outer: Continuation | None) -> Block:
        done: Block = []
        for index, statement in enumerate(block):
            after = list(block[index + 1 :])
            if isinstance(statement, ast.If) and jumps([statement]):
                done += self._python_jumping_if(statement, after, region, outer)
                if region.end == "END":
                    break
            else:
                done += self._python_statement(statement, region)
        return done or [ast.Pass() for _ in block[:1]]

    def _python_statement(self, node: ast.stmt, region: Region) -> Block:
        match node:
            case ast.If():
                return self._python_if(node, region)
            case ast.While():
                return self._python_while(node, region)
            case ast.For():
                return self._python_for(node, region)
            case _:
                return self._other_statement(node, lambda block, inner: self._python_block(block, inner, None), region)

    def _python_if(self, node: ast.If, region: Region) -> Block:
        body, orelse = (self._python_block(block, region, None) for block in (node.body, node.orelse))
        test = self._test(node.test)
        if is_python_condition(node.test):
            return [ast.copy_location(ast.If(test, body, orelse), node)]
        functions, (then, otherwise) = self._make_branches(node, region, None)
        value = self._scope.new_name("test")
        choice = runtime_call(
            "if_",
            name(value),
            name(then),
            name(otherwise),
            self._scope.describe_changes([*node.body, *node.orelse], self._scope.liveness.after(node)),
            constant(node.lineno),
        )
        return set_location(
            node,
            ast.If(
                runtime_call("traced", assign_expression(value, test)),
                [*functions, ast.Expr(choice)],
                [ast.If(name(value), body, orelse)],
            ),
        )

    def _python_jumping_if(self, node: ast.If, after: Block, region: Region, outer: Continuation | None) -> Block:
        test = self._test(node.test)
        if is_python_condition(node.test) and not has_jumping_if([*node.body, *node.orelse]):
            body, orelse = (self._python_block(block, region, None) for block in (node.body, node.orelse))
            rest = self._python_block(after, region, outer) if region.end == "END" else []
            return [ast.copy_location(ast.If(test, body, orelse), node), *rest]
        function, continuation = self._make_continuation(node, after, region, outer)
        body, orelse = (self._python_block(block, region, continuation) for block in (node.body, node.orelse))
        functions, branches = self._make_branches(node, region, continuation)
        value = self._scope.new_name("test")
        jump = self._jump_call(node, value, branches, continuation, region)
        python_form: Block = [ast.If(name(value), body, orelse)]
        if region.end == "END":
            python_form += self._python_block(after, region, outer)
        choice = ast.If(
            runtime_call("traced", assign_expression(value, test)),
            [*functions, *self._follow_jump(node, jump, region)],
            python_form,
        )
        return set_location(node, function, choice)

    def _follow_jump(self, node: ast.If, jump: ast.expr, region: Region) -> Block:
        """Python continues where ``jump`` says."""
        if region.end is None:
            return [ast.Return(ast.Attribute(jump, "value", ast.Load()))]
        signal = self._scope.new_name("signal")
        done: Block = [assign(signal, runtime_call("require_known", jump, constant(node.lineno)))]
        returned = ast.Return(ast.Attribute(name(signal), "value", ast.Load()))
        done.append(ast.If(runtime_call("is_returned", name(signal)), [returned], []))
        if region.in_loop:
            done.append(ast.If(is_runtime_attribute(signal, "BREAK"), [ast.Break()], []))
            done.append(ast.If(is_runtime_attribute(signal, "CONTINUE"), [ast.Continue()], []))
        return done

    def _python_while(self, node: ast.While, region: Region) -> Block:
        body = self._python_block(node.body, self._scope.loop_region(node), None)
        orelse = self._python_block(node.orelse, self._scope.block_region(node.orelse, region), None)
        test = self._test(node.test)
        if is_python_condition(node.test):
            return [ast.copy_location(ast.While(test, body, orelse), node)]
        value = self._scope.new_name("test")
        functions, loop_call = self._while_call(node)
        is_traced = runtime_call("traced", assign_expression(value, test))
        continues = ast.BoolOp(ast.And(), [ast.UnaryOp(ast.Not(), is_traced), name(value)])
        traced = ast.If(runtime_call("traced", name(value)), [*functions, ast.Expr(loop_call)], [])
        return set_location(node, ast.While(continues, body, [traced, *orelse]))

    def _python_for(self, node: ast.For, region: Region) -> Block:
        over = self._scope.new_name("over")
        functions, loop_call = self._for_call(node, name(over))
        inner = self._scope.block_region(node.orelse, region)
        python_form = ast.For(
            self._expression(node.target),
            name(over),
            self._python_block(node.body, self._scope.loop_region(node), None),
            self._python_block(node.orelse, inner, None),
        )
        test = runtime_call("needs_traced_loop", assign_expression(over, self._expression(node.iter)))
        traced = [*functions, ast.Expr(loop_call), *self._python_block(node.orelse, inner, None)]
        return set_location(node, ast.If(test, traced, [python_form]))

    # The traced form.

    def _traced_block(self, block: Sequence[ast.stmt], region: Region, outer: Continuation | None) -> Block:
        done: Block = []
        for index, statement in enumerate(block):
            if isinstance(statement, Jump):
                return [*done, ast.copy_location(ast.Return(self._signal_expression(statement)), statement)]
            if isinstance(statement, ast.If) and jumps([statement]):
                return done + self._traced_jumping_if(statement, list(block[index + 1 :]), region, outer)
            done += self._traced_statement(statement, region)
        return done

    def _traced_statement(self, node: ast.stmt, region: Region) -> Block:
        match node:
            case ast.If():
                if is_python_condition(node.test):
                    body, orelse = (self._traced_block(block, region, None) for block in (node.body, node.orelse))
                    return set_location(node, ast.If(self._test(node.test), body or [ast.Pass()], orelse))
                functions, (then, otherwise) = self._make_branches(node, region, None)
                changes = self._scope.describe_changes([*node.body, *node.orelse], self._scope.liveness.after(node))
                line = constant(node.lineno)
                choice = runtime_call("if_", self._test(node.test), name(then), name(otherwise), changes, line)
                return set_location(node, *functions, ast.Expr(choice))
            case ast.While():
                return self._traced_loop(node, *self._while_call(node), region)
            case ast.For():
                return self._traced_loop(node, *self._for_call(node, self._expression(node.iter)), region)
            case ast.AnnAssign(target=ast.Name()):  # an annotated name cannot be nonlocal
                if node.value is None:
                    return []
                return set_location(node, ast.Assign([copy.deepcopy(node.target)], self._expression(node.value)))
            case _:
                return self._other_statement(node, lambda block, inner: self._traced_block(block, inner, None), region)

    def _traced_jumping_if(self, node: ast.If, after: Block, region: Region, outer: Continuation | None) -> Block:
        function, rest = self._make_continuation(node, after, region, outer)
        functions, branches = self._make_branches(node, region, rest)
        jump = self._jump_call(node, self._test(node.test), branches, rest, region)
        if region.end != "END":
            return set_location(node, function, *functions, ast.Return(jump))
        signal = self._scope.new_name("signal")
        at_end = is_runtime_attribute(signal, "END")
        leave = ast.If(ast.UnaryOp(ast.Not(), at_end), [ast.Return(name(signal))], [])
        return set_location(node, function, *functions, assign(signal, jump), leave)

    def _traced_loop(self, node: ast.For | ast.While, functions: Block, loop_call: ast.expr, region: Region) -> Block:
        signal = self._scope.new_name("signal")
        done: Block = [*functions, assign(signal, loop_call)]
        if ast.Return in jumps(node.body):
            done.append(ast.If(runtime_call("is_returned", name(signal)), [ast.Return(name(signal))], []))
        if node.orelse:
            orelse = self._traced_block(node.orelse, self._scope.block_region(node.orelse, region), None)
            done.append(ast.If(ast.Compare(name(signal), [ast.Is()], [constant(None)]), orelse, []))
        return set_location(node, *done)

    def _signal_expression(self, node: Jump) -> ast.expr:
        if isinstance(node, ast.Return):
            value = constant(None) if node.value is None else self._expression(node.value)
            return runtime_call("Returned", value)
        return runtime_attribute("BREAK" if isinstance(node, ast.Break) else "CONTINUE")

    # What both forms use.

    @cached_by_statement
    def _make_branches(self, node: ast.If, region: Region, rest: Continuation | None) -> tuple[Block, tuple[str, str]]:
        then, otherwise = self._scope.new_name("then"), self._scope.new_name("else")
        functions = [
            self._scope.make_block_function(each, block, self._traced_block(block, region, rest))
            for each, block in ((then, node.body), (otherwise, node.orelse))
        ]
        return functions, (then, otherwise)

    @cached_by_statement
    def _make_continuation(
        self, node: ast.If, after: Block, region: Region, outer: Continuation | None
    ) -> tuple[ast.stmt, Continuation]:
        rest = Continuation(self._scope.new_name("rest"), [*after, *(outer.statements if outer else [])])
        body = self._traced_block(after, region, outer)
        end = runtime_call("Returned", constant(None)) if region.end is None else runtime_attribute(region.end)
        if not body or not isinstance(body[-1], ast.Return):
            body.append(ast.Return(call(outer.name) if outer else end))
        return self._scope.make_block_function(rest.name, rest.statements, body), rest

    def _jump_call(
        self, node: ast.If, test: str | ast.expr, branches: tuple[str, str], rest: Continuation, region: Region
    ) -> ast.expr:
        own = [*node.body, *node.orelse]
        changes = [
            self._scope.describe_changes(own, self._scope.liveness.after(node)),
            self._scope.describe_changes([*own, *rest.statements], region.live),
        ]
        return runtime_call(
            "if_jump",
            name(test) if isinstance(test, str) else test,
            *map(name, branches),
            name(rest.name),
            ast.Tuple([*changes], ast.Load()),
            constant(any(block and isinstance(block[-1], Jump) for block in (node.body, node.orelse))),
            constant(node.lineno),
        )

    @cached_by_statement
    def _while_call(self, node: ast.While) -> tuple[Block, ast.expr]:
        test, body = self._scope.new_name("test"), self._scope.new_name("body")
        inner = self._traced_block(node.body, self._scope.loop_region(node), None)
        binds = bool(bound_names([node.test]))
        if binds:  # the body needs what `:=` binds
            inner = [ast.Expr(self._test(node.test)), *inner]
        functions = [
            self._scope.make_block_function(test, [node.test], [ast.Return(self._test(node.test))]),
            self._scope.make_block_function(body, [node.test, *node.body], inner),
        ]
        changes = self._scope.describe_loop_changes(node, [node.test, *node.body])
        return functions, runtime_call("while_", name(test), name(body), constant(binds), *changes)

    def _for_call(self, node: ast.For, over: ast.expr) -> tuple[Block, ast.expr]:
        target, body, value = (self._scope.new_name(kind) for kind in ("target", "body", "value"))
        bind = ast.Assign([self._expression(node.target)], name(value))
        inner = self._traced_block(node.body, self._scope.loop_region(node), None)
        functions = [
            self._scope.make_block_function(target, [node.target], [bind], (value,)),
            self._scope.make_block_function(body, node.body, inner),
        ]
        changes = self._scope.describe_loop_changes(node, [node.target, *node.body])
        return functions, runtime_call("for_", over, name(target), name(body), *changes)

    def _other_statement(self, node: ast.stmt, blocks: Callable[[Block, Region], Block], region: Region) -> Block:
        match node:
            case ast.Global() | ast.Nonlocal():
                return []  # they are at the beginning of the function
            case ast.FunctionDef():
                return [self._inner_function(node)]
            case ast.AsyncFunctionDef() | ast.ClassDef():
                return [copy.deepcopy(node)]
            case ast.Assert():
                changed = rewrite_node(node, self._first_parameter)
                changed.test = runtime_call("check_assert", self._test(node.test), constant(node.lineno))
                return set_location(node, changed)
        changed_statement = self._without_blocks(node)
        for field, value in ast.iter_fields(node):
            if not isinstance(value, list) or not value:
                continue
            if isinstance(value[0], ast.stmt):
                inner = blocks(value, self._scope.block_region(value, region))
                setattr(changed_statement, field, inner or [ast.Pass()])
            elif isinstance(value[0], ast.ExceptHandler | ast.match_case):
                for old, new in zip(value, getattr(changed_statement, field), strict=True):
                    new.body = blocks(old.body, self._scope.block_region(old.body, region)) or [ast.Pass()]
        return set_location(node, changed_statement)

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
        return rewrite_node(shell, self._first_parameter)

    def _inner_function(self, node: ast.FunctionDef) -> ast.stmt:
        """An inner function: rewritten too, unless a decorator may need it unchanged."""
        if node.decorator_list or _yields(node):
            return copy.deepcopy(node)
        parameters = [*node.args.posonlyargs, *node.args.args]
        first = parameters[0].arg if parameters and self._first_parameter else None
        changed = FunctionRewriter(node, self._class_name, first).rewrite()
        changed.args = rewrite_node(node.args, self._first_parameter)
        return changed

    def _expression(self, node: ast.expr) -> ast.expr:
        return rewrite_node(node, self._first_parameter)

    def _test(self, node: ast.expr) -> ast.expr:
        return rewrite_condition(node, self._first_parameter)


def _yields(node: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(node.body))
