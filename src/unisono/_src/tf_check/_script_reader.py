"""Reads a script without running it: which names of TensorFlow and Keras it uses, and on which lines.

It tracks what a name was imported as or assigned, in the order of the script: `from tensorflow.keras import layers`,
`strategy = tf.distribute.MirroredStrategy()`, then `strategy.run` is `tf.distribute.MirroredStrategy.run`.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterable
from typing import Final

from unisono._src.tf_check._name_resolution import (
    ROOTS,
    callback_argument_classes,
    may_have_members,
    property_class_name,
    resolve,
    result_class_name,
)
from unisono._src.tf_check._scopes import Location, ResolvedName, Scope, ScriptFunctions
from unisono.tf._missing_names import MISSING_PACKAGES

_IMPORTED_AS: Final = {
    "tensorflow.compat.v2": "tf",
    "tensorflow": "tf",
    "unisono.tf": "tf",
    "unisono.tfds": "tfds",
    "tensorflow_datasets": "tfds",
    "keras": "keras",
}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclasses.dataclass(frozen=True)
class NameUse:
    """A name that a script uses."""

    name: str  # "tf.data.Dataset.batch"
    line: int
    keywords: tuple[str, ...] = ()
    certain: bool = True  # False for a member of an object of the script's class, which may have more members


def find_name_uses(tree: ast.Module) -> list[NameUse]:
    """The names in the order of their lines."""
    functions = ScriptFunctions()
    for _ in range(2):  # in the second pass it is known what the script's functions get and return
        reader = _ScriptReader(functions)
        reader.read_block(tree.body, Scope())
        while reader.deferred:
            reader.deferred.pop(0)()
    return sorted(reader.uses, key=lambda use: use.line)


class _ScriptReader:
    def __init__(self, functions: ScriptFunctions) -> None:
        self.functions = functions
        self.uses: list[NameUse] = []
        # Bodies of functions, read when the names defined after them are known.
        self.deferred: list[Callable[[], None]] = []

    def read_block(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self.read_statement(statement, scope)

    def read_statement(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            self.read_import(node, scope)
        elif isinstance(node, ast.ImportFrom):
            self.read_import_from(node, scope)
        elif isinstance(node, _FUNCTIONS):
            self.read_function(node, scope, scope)
        elif isinstance(node, ast.ClassDef):
            self.read_class(node, scope)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self.assign(target, node.value, scope)
        elif isinstance(node, ast.AnnAssign):
            self.read_expression(node.annotation, scope)
            self.bind(node.target, self.read_expression(node.value, scope) if node.value else None, scope)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                value = self.read_expression(item.context_expr, scope)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, value, scope)
            self.read_block(node.body, scope)
        elif isinstance(node, ast.For | ast.AsyncFor):
            # For a tuple literal, the first element that resolves represents all.
            values = [self.read_expression(each, scope) for each in _elements(node.iter) or [node.iter]]
            self.bind(node.target, next(filter(None, values), None) if _elements(node.iter) else None, scope)
            self.read_block([*node.body, *node.orelse], scope)
        elif isinstance(node, ast.Return) and node.value is not None:
            value = self.read_expression(node.value, scope)
            if value is not None and value.kind == "instance" and scope.function is not None:
                self.functions.results[scope.function] = value
        else:
            self.read_children(node, scope)

    def read_children(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.read_statement(child, scope)
            elif isinstance(child, ast.expr):
                self.read_expression(child, scope)
            else:
                self.read_children(child, scope)

    # Imports and definitions

    def read_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            name = _canonical(alias.name)
            bound = alias.asname or alias.name.partition(".")[0]
            if name is None:
                self.note_foreign_package(alias.name, node.lineno)
                scope.names[bound] = None
                continue
            self.note_use(ResolvedName(name), node.lineno)
            scope.names[bound] = ResolvedName(name if alias.asname else _canonical(bound) or bound)

    def read_import_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        if node.level or node.module is None:
            return
        if _canonical(f"{node.module}.x") is None:
            self.note_foreign_package(node.module, node.lineno)
        for alias in node.names:
            name = _canonical(f"{node.module}.{alias.name}")
            if alias.name == "*":
                self.import_all(_canonical(node.module), node.lineno, scope)
                continue
            scope.names[alias.asname or alias.name] = None if name is None else ResolvedName(name)
            if name is not None:
                self.note_use(ResolvedName(name), node.lineno)

    def import_all(self, module: str | None, line: int, scope: Scope) -> None:
        if module is None or module == "unisono":
            return
        self.note_use(ResolvedName(module), line)
        found = resolve(module) if _exists(module) else None
        for name in getattr(found, "__all__", dir(found)):
            if not name.startswith("_"):
                scope.names[name] = ResolvedName(f"{module}.{name}")

    def note_foreign_package(self, module: str, line: int) -> None:
        root = module.partition(".")[0]
        if root in MISSING_PACKAGES and not module.startswith("tensorflow_probability.substrates"):
            self.uses.append(NameUse(root, line))

    def read_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, outer: Scope) -> None:
        """``outer`` is where its body looks up names: for a method not the class, but the scope around it."""
        for each in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.read_expression(each, scope)
        inside = Scope(outer, scope.on_self, _location(node))
        self.bind_arguments(node, inside)
        for argument in _arguments(node.args):
            annotated = self.read_expression(argument.annotation, scope) if argument.annotation else None
            if annotated is not None and annotated.kind == "object":
                inside.names[argument.arg] = ResolvedName(annotated.name, "instance", False)
        if node.returns is not None:
            self.read_expression(node.returns, scope)
        scope.names[node.name] = ResolvedName(node.name, "script function", location=_location(node))
        this = scope.names.get(" self")
        if this is not None and node.args.args:
            inside.names[node.args.args[0].arg] = inside.names[" self"] = this
        self.deferred.append(lambda: self.read_block(node.body, inside))

    def bind_arguments(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, inside: Scope) -> None:
        """Its arguments are unknown, unless the function that it is passed to determines their classes."""
        inside.names.update({argument.arg: None for argument in _arguments(node.args)})
        given = self.functions.argument_classes.get(_location(node), [])
        for argument, name in zip(_arguments(node.args), given, strict=False):
            inside.names[argument.arg] = None if name is None else ResolvedName(name, "instance")

    def read_class(self, node: ast.ClassDef, scope: Scope) -> None:
        bases = [self.read_expression(base, scope) for base in node.bases]
        for each in (*node.decorator_list, *(keyword.value for keyword in node.keywords)):
            self.read_expression(each, scope)
        base = next((each for each in bases if each is not None and each.kind in ("object", "script class")), None)
        inside = Scope(scope, {})
        if base is not None:
            inside.names[" self"] = ResolvedName(base.name, "instance", False)
        for statement in node.body:
            if isinstance(statement, _FUNCTIONS):
                self.read_function(statement, inside, scope)
                if (
                    base is not None
                    and not statement.name.startswith("__")
                    and _exists(f"{base.name}.{statement.name}")
                ):
                    self.note_use(ResolvedName(f"{base.name}.{statement.name}", "member", False), statement.lineno)
            else:
                self.read_statement(statement, inside)
        scope.names[node.name] = None if base is None else ResolvedName(base.name, "script class", False)

    # Assignments

    def assign(self, target: ast.expr, node: ast.expr, scope: Scope) -> None:
        targets, values = _elements(target), _elements(node)
        if targets and len(targets) == len(values):
            for each, value in zip(targets, values, strict=True):
                self.assign(each, value, scope)
        else:
            self.bind(target, self.read_expression(node, scope), scope)

    def bind(self, target: ast.expr, value: ResolvedName | None, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            scope.on_self[target.attr] = value
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self.bind(each, None, scope)
        elif isinstance(target, ast.Starred):
            self.bind(target.value, None, scope)
        else:
            self.read_expression(target, scope)

    # Expressions

    def read_expression(self, node: ast.expr, scope: Scope) -> ResolvedName | None:
        """What it refers to; the names in it are noted."""
        value = self.evaluate(node, scope)
        if value is not None and isinstance(node, ast.Name | ast.Attribute):
            self.note_use(value, node.lineno)
        return value

    def evaluate(self, node: ast.expr, scope: Scope) -> ResolvedName | None:
        """What it refers to. A name is noted unless the node is the beginning of a longer one."""
        if isinstance(node, ast.Name):
            return scope.look_up(node.id)
        if isinstance(node, ast.Attribute):
            return self.evaluate_attribute(node, scope)
        if isinstance(node, ast.Call):
            return self.evaluate_call(node, scope)
        if isinstance(node, ast.Lambda):
            inside = Scope(scope)
            self.bind_arguments(node, inside)
            self.read_expression(node.body, inside)
            return ResolvedName("", "script function", location=_location(node))
        if isinstance(node, ast.IfExp):
            self.read_expression(node.test, scope)
            first, second = self.read_expression(node.body, scope), self.read_expression(node.orelse, scope)
            return first or second
        if isinstance(node, ast.NamedExpr):
            value = self.read_expression(node.value, scope)
            self.bind(node.target, value, scope)
            return value
        if isinstance(node, _COMPREHENSIONS):
            inside = Scope(scope)
            for generator in node.generators:
                self.read_expression(generator.iter, inside)
                self.bind(generator.target, None, inside)
            self.read_children(node, inside)
            return None
        self.read_children(node, scope)
        return None

    def evaluate_attribute(self, node: ast.Attribute, scope: Scope) -> ResolvedName | None:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in scope.on_self:
            return scope.on_self[node.attr]
        owner = self.evaluate(node.value, scope)
        if owner is None:
            return None
        if owner.name == "unisono":
            name = _canonical(f"unisono.{node.attr}")
            return None if name is None else ResolvedName(name)
        if owner.kind == "object" and may_have_members(owner.name):
            return ResolvedName(f"{owner.name}.{node.attr}", "object", owner.certain)
        if owner.kind in ("instance", "script class"):
            return ResolvedName(f"{owner.name}.{node.attr}", "member", owner.certain)
        self.note_use(owner, node.lineno)
        inside = property_class_name(owner.name) if owner.kind == "member" else None
        return None if inside is None else ResolvedName(f"{inside}.{node.attr}", "member")

    def evaluate_call(self, node: ast.Call, scope: Scope) -> ResolvedName | None:
        called = self.evaluate(node.func, scope)
        keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
        if called is not None:
            self.note_use(called, node.func.end_lineno or node.lineno, keywords)
        arguments = [self.read_expression(each, scope) for each in node.args]
        arguments += [self.read_expression(keyword.value, scope) for keyword in node.keywords]
        if isinstance(node.func, ast.Name) and called is None:
            if node.func.id == "super" and not node.args:
                return scope.look_up(" self")
            first = arguments[0] if arguments else None
            if node.func.id == "iter" and first is not None and first.kind == "instance":
                called = ResolvedName(f"{first.name}.__iter__", "member")
        if called is None or called.kind == "instance":
            return None
        if called.kind == "script function":
            return self.functions.results.get(called.location) if called.location else None
        if called.kind == "script class":
            return dataclasses.replace(called, kind="instance")
        self.note_callbacks(called.name, node, arguments)
        result = result_class_name(called.name)
        return None if result is None else ResolvedName(result, "instance")

    def note_callbacks(self, name: str, node: ast.Call, arguments: list[ResolvedName | None]) -> None:
        """Notes which arguments the script's functions get that are passed to this call."""
        positions: list[int | str] = [*range(len(node.args)), *(keyword.arg or "" for keyword in node.keywords)]
        for position, argument in zip(positions, arguments, strict=True):
            if argument is not None and argument.kind == "script function" and argument.location is not None:
                self.functions.argument_classes[argument.location] = callback_argument_classes(name, position)

    def note_use(self, resolved: ResolvedName, line: int, keywords: tuple[str, ...] = ()) -> None:
        is_trivial = resolved.name in (*ROOTS, "unisono") or (
            resolved.kind == "member" and resolved.name.endswith("__")
        )
        if resolved.kind in ("object", "member") and not is_trivial:
            self.uses.append(NameUse(resolved.name, line, keywords, resolved.certain))


def _canonical(module: str) -> str | None:
    """The name under the roots of the namespace: "tensorflow.keras" is "tf.keras". None for other packages.

    >>> _canonical("tensorflow.compat.v2.data"), _canonical("numpy")
    ('tf.data', None)
    """
    for written, name in _IMPORTED_AS.items():
        if module == written or module.startswith(written + "."):
            return name + module.removeprefix(written)
    return module if module == "unisono" else None


def _exists(name: str) -> bool:
    try:
        resolve(name)
    except AttributeError:
        return False
    return True


def _location(node: ast.AST) -> Location:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _elements(node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple or list literal; none if it has a star."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    return [] if any(isinstance(each, ast.Starred) for each in parts) else parts


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    extra = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]
