"""Finds the names that a test uses: in its function, in what the function refers to, and in scripts that it runs."""

from __future__ import annotations

import ast
import functools
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from unisono._src.tf_check._script_reader import find_name_uses

FOLDER = Path(__file__).parent
SCRIPTS = (FOLDER / "scripts", FOLDER.parents[1] / "examples", FOLDER.parents[1])


def names_used(path: Path, function: str, parameters: Iterable[object] = ()) -> set[str]:
    """Returns the names that a test function or method of the file uses."""
    statements = _read_statements(path)
    pending, seen = [function], {function}
    names: set[str] = set()
    while pending:
        for statement in statements.get(pending.pop(), ()):
            names |= statement.names
            names |= _names_in_scripts(path, statement.texts)
            pending += statement.references - seen
            seen |= statement.references
    return names | _names_in_scripts(path, [str(value) for value in parameters if isinstance(value, str | Path)])


class _Statement:
    """A top-level statement of a file: a function, a class, an assignment."""

    def __init__(self, node: ast.stmt, names: set[str]) -> None:
        inside = list(ast.walk(node))
        self.names = names
        self.references = {each.id for each in inside if isinstance(each, ast.Name)}
        self.references |= {each.arg for each in inside if isinstance(each, ast.arg)}  # fixtures
        self.texts = [each.value for each in inside if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        self.defines = set(_defined_names(node))


@functools.cache
def _read_statements(path: Path) -> dict[str, list[_Statement]]:
    """Returns the top-level statements of a file by the names that they define."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    _inline_fixtures(tree)
    uses = find_name_uses(tree)
    found: dict[str, list[_Statement]] = {}
    for node in tree.body:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
        lines = range(first, (node.end_lineno or node.lineno) + 1)
        statement = _Statement(node, {use.name for use in uses if use.line in lines})
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for name in statement.defines:
                found.setdefault(name, []).append(statement)
    return found


def _inline_fixtures(tree: ast.Module) -> None:
    """Replaces arguments that name a fixture by a call of the fixture, so that uses of its result are found."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    fixtures = {node.name for node in functions if "fixture" in "".join(map(ast.unparse, node.decorator_list))}
    for node in functions:
        for argument in [each for each in node.args.args if each.arg in fixtures]:
            node.args.args.remove(argument)
            (call,) = ast.parse(f"{argument.arg} = {argument.arg}()").body
            node.body.insert(0, ast.increment_lineno(call, node.lineno - 1))
        for index, statement in enumerate(node.body):
            if node.name in fixtures and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield):
                node.body[index] = ast.copy_location(ast.Return(statement.value.value), statement)


def _defined_names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (each.name for each in node.body if isinstance(each, ast.FunctionDef))
    else:
        yield from (
            each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        )


def _names_in_scripts(path: Path, texts: Iterable[str]) -> set[str]:
    """Returns the names used by scripts: files named by a string, and strings that are scripts themselves."""
    names: set[str] = set()
    for text in texts:
        if text.endswith(".py") and "\n" not in text:
            for folder in (path.parent, path.parent / "scripts", *SCRIPTS):
                if (folder / text).is_file():
                    names |= _names_in_script((folder / text).read_text(encoding="utf-8"))
        elif "import" in text and "\n" in text:
            names |= _names_in_script(text)
    return names


@functools.cache
def _names_in_script(code: str) -> frozenset[str]:
    """Returns the names used by a script and by the scripts that it contains as strings."""
    try:
        tree = ast.parse(textwrap.dedent(code))
    except SyntaxError:  # a text that only mentions imports
        return frozenset()
    texts = [each.value for each in ast.walk(tree) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    inside = [_names_in_script(text) for text in texts if "import" in text and "\n" in text]
    return frozenset(use.name for use in find_name_uses(tree)).union(*inside)
