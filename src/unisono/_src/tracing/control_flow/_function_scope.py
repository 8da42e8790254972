"""The names of a function that is being rewritten: what its blocks change, and the functions made of blocks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from unisono._src.tracing.control_flow._liveness import Liveness, Names
from unisono._src.tracing.control_flow._source_names import (
    Path,
    bound_names,
    declared_names,
    mangle,
    mutated_attributes,
    names_in,
    nonlocals_of_inner_functions,
    set_attributes,
)
from unisono._src.tracing.control_flow._syntax import constant, define_function

Block = list[ast.stmt]


@dataclass(frozen=True)
class Continuation:
    """What follows a statement, up to the end of its region: the name of its block function, and its statements."""

    name: str
    statements: Block


@dataclass(frozen=True)
class Region:
    """Where a continuation ends: the function, the body of a loop, or a block that it cannot leave (`with`).

    Attributes:
        end: the signal for its end, or None for the function, which returns None there.
        live: the names that are used after it.
        in_loop: whether `break` and `continue` may lead out of it.
    """

    end: str | None
    live: Names
    in_loop: bool


class FunctionScope:
    """The names of one function.

    Args:
        node: its definition.
        class_name: the class around it, whose private names are mangled.
    """

    def __init__(self, node: ast.FunctionDef, class_name: str | None) -> None:
        self._class_name = class_name
        self.liveness = Liveness(node.body)
        self._globals, self._nonlocals = declared_names(node.body, ast.Global), declared_names(node.body, ast.Nonlocal)
        parameters = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
        own = (bound_names(node.body) | parameters) - self._globals - self._nonlocals
        self._shared = own & nonlocals_of_inner_functions(node.body)
        self._locals = own - parameters
        self._count = 0

    def new_name(self, kind: str) -> str:
        """A name that is used nowhere else in the function."""
        self._count += 1
        return f"ag__{kind}_{self._count}"

    def declarations(self) -> Block:
        """The `global` and `nonlocal` statements of the function, for its beginning."""
        declarations: Block = []
        if self._globals:
            declarations.append(ast.Global(sorted(self._globals)))
        if self._nonlocals:
            declarations.append(ast.Nonlocal(sorted(self._nonlocals)))
        return declarations

    def make_block_function(
        self, name: str, binding: Iterable[ast.AST], body: Block, parameters: tuple[str, ...] = ()
    ) -> ast.stmt:
        """`def name(parameters): body`, which shares the names that ``binding`` binds with the function."""
        names = bound_names(binding) | self._shared
        head: Block = []
        if names & self._globals:
            head.append(ast.Global(sorted(names & self._globals)))
        if names - self._globals:
            head.append(ast.Nonlocal(sorted(names - self._globals)))
        return define_function(name, parameters, [*head, *body])

    def describe_changes(self, nodes: Sequence[ast.AST], live: Names) -> ast.expr:
        """The fields of :class:`Changes` for these nodes, as a constant."""
        names = bound_names(nodes)
        attributes, mutated = (
            tuple(sorted(self._mangle(path) for path in paths))
            for paths in (set_attributes(nodes), mutated_attributes(nodes))
        )
        fields = (names, names & live, names & self._globals, self._shared, self._locals - live)
        return constant((*(tuple(sorted(each)) for each in fields), attributes, mutated))

    def describe_loop_changes(self, node: ast.For | ast.While, nodes: Sequence[ast.AST]) -> list[ast.expr]:
        """The changes of a loop, the names that it carries, whether it has an `else`, and its line."""
        after = self.liveness.after(node) | names_in(node.orelse)
        carried = sorted(bound_names(nodes) & (self.liveness.at_iteration(node) | after))
        return [
            self.describe_changes(nodes, after),
            constant(tuple(carried)),
            constant(bool(node.orelse)),
            constant(node.lineno),
        ]

    def function_region(self) -> Region:
        """The whole function."""
        return Region(end=None, live=self.liveness.at_end, in_loop=False)

    def loop_region(self, node: ast.For | ast.While) -> Region:
        """The body of a loop."""
        return Region("CONTINUE", self.liveness.at_iteration(node) | self.liveness.after(node), in_loop=True)

    def block_region(self, block: Block, region: Region) -> Region:
        """A block inside ``region`` that a continuation cannot leave."""
        return replace(region, end="END", live=self.liveness.after_block(block))

    def _mangle(self, path: Path) -> Path:
        """The attributes by their names at run time."""
        return (path[0], *(mangle(each, self._class_name) for each in path[1:]))
