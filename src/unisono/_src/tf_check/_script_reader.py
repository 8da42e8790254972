"""Reads a script without running it: which names of TensorFlow and Keras it uses, and on which lines.

It follows what a name was imported as or assigned, in the order of the script: `from tensorflow.keras import layers`,
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
    certain: bool = True  # not a member of an object of the script's own class, which may have more


def find_name_uses(tree: ast.Module) -> list[NameUse]:
    """The names in the order of their lines."""
    known = ScriptFunctions()
    for _ in range(2):  # the second time it is known what functions of the script get and return
        reader = _Reader(known)
        reader.block(tree.body, Scope())
        while reader.later:
            reader.later.pop(0)()
    return sorted(reader.uses, key=lambda use: use.line)


class _Reader:
    def __init__(self, known: ScriptFunctions) -> None:
        self.known = known
        self.uses: list[NameUse] = []
        self.later: list[Callable[[], None]] = []  # bodies of functions: they run when the names after them are known

    def block(self, statements: Iterable[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            self.statement(statement, scope)

    def statement(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            self.imported(node, scope)
        elif isinstance(node, ast.ImportFrom):
            self.imported_from(node, scope)
        elif isinstance(node, _FUNCTIONS):
            self.function(node, scope, scope)
        elif isinstance(node, ast.ClassDef):
            self.own_class(node, scope)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self.assign(target, node.value, scope)
        elif isinstance(node, ast.AnnAssign):
            self.expression(node.annotation, scope)
            self.bind(node.target, self.expression(node.value, scope) if node.value else None, scope)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                value = self.expression(item.context_expr, scope)
                if item.optional_vars is not None:
                    self.bind(item.optional_vars, value, scope)
            self.block(node.body, scope)
        elif isinstance(node, ast.For | ast.AsyncFor):
            # Over a tuple as it is written, the first of what is in it stands for all.
            values = [self.expression(each, scope) for each in _parts(node.iter) or [node.iter]]
            self.bind(node.target, next(filter(None, values), None) if _parts(node.iter) else None, scope)
            self.block([*node.body, *node.orelse], scope)
        elif isinstance(node, ast.Return) and node.value is not None:
            value = self.expression(node.value, scope)
            if value is not None and value.kind == "instance" and scope.body_of is not None:
                self.known.returned[scope.body_of] = value
        else:
            self.children(node, scope)

    def children(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                self.statement(child, scope)
            elif isinstance(child, ast.expr):
                self.expression(child, scope)
            else:
                self.children(child, scope)

    # Imports and definitions

    def imported(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            name = _canonical(alias.name)
            bound = alias.asname or alias.name.partition(".")[0]
            if name is None:
                self.foreign(alias.name, node.lineno)
                scope.names[bound] = None
                continue
            self.use(ResolvedName(name), node.lineno)
            scope.names[bound] = ResolvedName(name if alias.asname else _canonical(bound) or bound)

    def imported_from(self, node: ast.ImportFrom, scope: Scope) -> None:
        if node.level or node.module is None:
            return
        if _canonical(f"{node.module}.x") is None:
            self.foreign(node.module, node.lineno)
        for alias in node.names:
            name = _canonical(f"{node.module}.{alias.name}")
            if alias.name == "*":
                self.all_of(_canonical(node.module), node.lineno, scope)
                continue
            scope.names[alias.asname or alias.name] = None if name is None else ResolvedName(name)
            if name is not None:
                self.use(ResolvedName(name), node.lineno)

    def all_of(self, module: str | None, line: int, scope: Scope) -> None:
        if module is None or module == "unisono":
            return
        self.use(ResolvedName(module), line)
        found = resolve(module) if _has(module) else None
        for name in getattr(found, "__all__", dir(found)):
            if not name.startswith("_"):
                scope.names[name] = ResolvedName(f"{module}.{name}")

    def foreign(self, module: str, line: int) -> None:
        root = module.partition(".")[0]
        if root in MISSING_PACKAGES and not module.startswith("tensorflow_probability.substrates"):
            self.uses.append(NameUse(root, line))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, outer: Scope) -> None:
        """``outer`` is where its body looks names up: for a method not the class, but what is around it."""
        for each in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.expression(each, scope)
        inside = Scope(outer, scope.on_self, _place(node))
        self.arguments(node, inside)
        for argument in _arguments(node.args):
            said = self.expression(argument.annotation, scope) if argument.annotation else None
            if said is not None and said.kind == "object":
                inside.names[argument.arg] = ResolvedName(said.name, "instance", False)
        if node.returns is not None:
            self.expression(node.returns, scope)
        scope.names[node.name] = ResolvedName(node.name, "own function", place=_place(node))
        this = scope.names.get(" self")
        if this is not None and node.args.args:
            inside.names[node.args.args[0].arg] = inside.names[" self"] = this
        self.later.append(lambda: self.block(node.body, inside))

    def arguments(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, inside: Scope) -> None:
        """Its arguments mean nothing, if not what is known of the function that it is passed to."""
        inside.names.update({argument.arg: None for argument in _arguments(node.args)})
        given = self.known.given.get(_place(node), [])
        for argument, name in zip(_arguments(node.args), given, strict=False):
            inside.names[argument.arg] = None if name is None else ResolvedName(name, "instance")

    def own_class(self, node: ast.ClassDef, scope: Scope) -> None:
        bases = [self.expression(base, scope) for base in node.bases]
        for each in (*node.decorator_list, *(keyword.value for keyword in node.keywords)):
            self.expression(each, scope)
        base = next((each for each in bases if each is not None and each.kind in ("object", "own class")), None)
        inside = Scope(scope, {})
        if base is not None:
            inside.names[" self"] = ResolvedName(base.name, "instance", False)
        for statement in node.body:
            if isinstance(statement, _FUNCTIONS):
                self.function(statement, inside, scope)
                if base is not None and not statement.name.startswith("__") and _has(f"{base.name}.{statement.name}"):
                    self.use(ResolvedName(f"{base.name}.{statement.name}", "member", False), statement.lineno)
            else:
                self.statement(statement, inside)
        scope.names[node.name] = None if base is None else ResolvedName(base.name, "own class", False)

    # Assignments

    def assign(self, target: ast.expr, node: ast.expr, scope: Scope) -> None:
        targets, values = _parts(target), _parts(node)
        if targets and len(targets) == len(values):
            for each, value in zip(targets, values, strict=True):
                self.assign(each, value, scope)
        else:
            self.bind(target, self.expression(node, scope), scope)

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
            self.expression(target, scope)

    # Expressions

    def expression(self, node: ast.expr, scope: Scope) -> ResolvedName | None:
        """What it means; names in it are noted."""
        value = self.value(node, scope)
        if value is not None and isinstance(node, ast.Name | ast.Attribute):
            self.use(value, node.lineno)
        return value

    def value(self, node: ast.expr, scope: Scope) -> ResolvedName | None:
        """What it means. Names are noted as far as they do not go on outside of the node."""
        if isinstance(node, ast.Name):
            return scope.look_up(node.id)
        if isinstance(node, ast.Attribute):
            return self.attribute(node, scope)
        if isinstance(node, ast.Call):
            return self.call(node, scope)
        if isinstance(node, ast.Lambda):
            inside = Scope(scope)
            self.arguments(node, inside)
            self.expression(node.body, inside)
            return ResolvedName("", "own function", place=_place(node))
        if isinstance(node, ast.IfExp):
            self.expression(node.test, scope)
            first, second = self.expression(node.body, scope), self.expression(node.orelse, scope)
            return first or second
        if isinstance(node, ast.NamedExpr):
            value = self.expression(node.value, scope)
            self.bind(node.target, value, scope)
            return value
        if isinstance(node, _COMPREHENSIONS):
            inside = Scope(scope)
            for generator in node.generators:
                self.expression(generator.iter, inside)
                self.bind(generator.target, None, inside)
            self.children(node, inside)
            return None
        self.children(node, scope)
        return None

    def attribute(self, node: ast.Attribute, scope: Scope) -> ResolvedName | None:
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in scope.on_self:
            return scope.on_self[node.attr]
        owner = self.value(node.value, scope)
        if owner is None:
            return None
        if owner.name == "unisono":
            name = _canonical(f"unisono.{node.attr}")
            return None if name is None else ResolvedName(name)
        if owner.kind == "object" and may_have_members(owner.name):
            return ResolvedName(f"{owner.name}.{node.attr}", "object", owner.certain)
        if owner.kind in ("instance", "own class"):
            return ResolvedName(f"{owner.name}.{node.attr}", "member", owner.certain)
        self.use(owner, node.lineno)
        inside = property_class_name(owner.name) if owner.kind == "member" else None
        return None if inside is None else ResolvedName(f"{inside}.{node.attr}", "member")

    def call(self, node: ast.Call, scope: Scope) -> ResolvedName | None:
        called = self.value(node.func, scope)
        keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg is not None)
        if called is not None:
            self.use(called, node.func.end_lineno or node.lineno, keywords)
        arguments = [self.expression(each, scope) for each in node.args]
        arguments += [self.expression(keyword.value, scope) for keyword in node.keywords]
        if isinstance(node.func, ast.Name) and called is None:
            if node.func.id == "super" and not node.args:
                return scope.look_up(" self")
            first = arguments[0] if arguments else None
            if node.func.id == "iter" and first is not None and first.kind == "instance":
                called = ResolvedName(f"{first.name}.__iter__", "member")
        if called is None or called.kind == "instance":
            return None
        if called.kind == "own function":
            return self.known.returned.get(called.place) if called.place else None
        if called.kind == "own class":
            return dataclasses.replace(called, kind="instance")
        self.callbacks(called.name, node, arguments)
        result = result_class_name(called.name)
        return None if result is None else ResolvedName(result, "instance")

    def callbacks(self, name: str, node: ast.Call, arguments: list[ResolvedName | None]) -> None:
        """Notes what functions of the script will be called with that are passed here."""
        places: list[int | str] = [*range(len(node.args)), *(keyword.arg or "" for keyword in node.keywords)]
        for place, argument in zip(places, arguments, strict=True):
            if argument is not None and argument.kind == "own function" and argument.place is not None:
                self.known.given[argument.place] = callback_argument_classes(name, place)

    def use(self, thing: ResolvedName, line: int, keywords: tuple[str, ...] = ()) -> None:
        dull = thing.name in (*ROOTS, "unisono") or (thing.kind == "member" and thing.name.endswith("__"))
        if thing.kind in ("object", "member") and not dull:
            self.uses.append(NameUse(thing.name, line, keywords, thing.certain))


def _canonical(module: str) -> str | None:
    """The name under the roots of the namespace: "tensorflow.keras" is "tf.keras". None for other packages.

    >>> _canonical("tensorflow.compat.v2.data"), _canonical("numpy")
    ('tf.data', None)
    """
    for written, name in _IMPORTED_AS.items():
        if module == written or module.startswith(written + "."):
            return name + module.removeprefix(written)
    return module if module == "unisono" else None


def _has(name: str) -> bool:
    try:
        resolve(name)
    except AttributeError:
        return False
    return True


def _place(node: ast.AST) -> Location:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _parts(node: ast.expr) -> list[ast.expr]:
    """The members of a tuple or list as it is written; none if it has a star."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else []
    return [] if any(isinstance(each, ast.Starred) for each in parts) else parts


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    extra = [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *extra]
