"""Which names a block of source reads and binds, and by which jumps it is left."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

Path = tuple[str, ...]

Scopes = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
"""What has its own names."""

Jump = ast.Return | ast.Break | ast.Continue

_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MUTATING: Final = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort", "update", "setdefault", "popitem"}
)


def bound_names(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that these statements or expressions bind or unbind."""
    finder = _BoundNameFinder()
    for node in nodes:
        finder.visit(node)
    return finder.names


def read_names(*nodes: ast.AST | None) -> set[str]:
    """The names that are read, in functions and classes inside as well."""
    return {
        each.id
        for node in nodes
        if node is not None
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def names_in_inner_scopes(body: Iterable[ast.stmt]) -> set[str]:
    """The names that functions, lambdas and classes in ``body`` may read or bind whenever they run."""
    names: set[str] = set()
    for scope in (node for statement in body for node in ast.walk(statement) if isinstance(node, Scopes)):
        names |= {name.id for name in ast.walk(scope) if isinstance(name, ast.Name)}
        names |= {name for node in ast.walk(scope) if isinstance(node, ast.Nonlocal) for name in node.names}
    return names


def nonlocals_of_inner_functions(body: Iterable[ast.stmt]) -> set[str]:
    """The names that functions in ``body`` bind by `nonlocal`."""
    return {
        name
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Nonlocal)
        for name in node.names
    } - declared_names(body, ast.Nonlocal)


def names_in(block: Iterable[ast.stmt]) -> set[str]:
    """All names that ``block`` itself reads or binds."""
    return {node.id for node in own_nodes(block) if isinstance(node, ast.Name)}


def declared_names(body: Iterable[ast.stmt], kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    """The names that `global` or `nonlocal` statements of this function name."""
    return {name for node in own_nodes(body) if isinstance(node, kind) for name in node.names}


def set_attributes(body: Iterable[ast.AST]) -> set[Path]:
    """The attributes that are set, as ("self", "total")."""
    paths = (
        _attribute_path(node)
        for node in own_nodes(body)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del)
    )
    return {path for path in paths if path}


def mutated_attributes(body: Iterable[ast.AST]) -> set[Path]:
    """Attributes that may hold a list or a dict which is changed in place."""
    holders: list[ast.expr] = []
    for node in own_nodes(body):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            holders.append(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _MUTATING:
            holders.append(node.func.value)
    paths = map(_attribute_path, holders)
    return {path for path in paths if len(path) > 1}


def mangle(attribute: str, class_name: str | None) -> str:
    """The name of a private attribute at run time."""
    private = attribute.startswith("__") and not attribute.endswith("__")
    return f"_{class_name.lstrip('_')}{attribute}" if private and class_name and class_name.strip("_") else attribute


def own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes that run as a part of this function, not of an inner one, in any order."""
    remaining = list(body)
    while remaining:
        node = remaining.pop()
        yield node
        if not isinstance(node, Scopes):
            remaining += ast.iter_child_nodes(node)


def jumps(block: Sequence[ast.stmt]) -> set[type[ast.stmt]]:
    """The kinds of jumps out of ``block``: a `break` inside a loop in it is none."""
    return {kind for statement in block for kind in _jumps_of(statement)}


def _jumps_of(node: ast.AST) -> set[type[ast.stmt]]:
    if isinstance(node, Jump):
        return {type(node)}
    if isinstance(node, Scopes | ast.expr):
        return set()
    if isinstance(node, ast.For | ast.While):
        return (jumps(node.body) & {ast.Return}) | jumps(node.orelse)
    return {kind for child in ast.iter_child_nodes(node) for kind in _jumps_of(child)}


def has_jumping_if(block: Sequence[ast.stmt]) -> bool:
    """Whether there is an `if` in ``block`` with a jump out of it."""
    return any(isinstance(node, ast.If) and jumps([node]) for node in own_nodes(block))


def _attribute_path(node: ast.expr) -> Path:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        root = _attribute_path(node.value)
        return (*root, node.attr) if root else ()
    return ()


class _BoundNameFinder(ast.NodeVisitor):
    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            self.names.add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.names.add(node.name)
        for expression in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(expression)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.add(node.name)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for expression in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(expression)

    def visit_alias(self, node: ast.alias) -> None:
        self.names.add((node.asname or node.name).split(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    visit_MatchStar = visit_MatchAs  # noqa: N815

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.names.add(node.rest)
        self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _COMPREHENSIONS):  # its targets are local to it, those of := are not
            inner = own_nodes(ast.iter_child_nodes(node))
            self.names |= {each.target.id for each in inner if isinstance(each, ast.NamedExpr)}
        else:
            super().generic_visit(node)
