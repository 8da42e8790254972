"""Compiles a rewritten function, with the file, the lines and the names of the original."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import inspect
import operator
from types import CodeType
from typing import Any, Final

from unisono._src.tracing.control_flow._expressions import rewrite_node
from unisono._src.tracing.control_flow._rewrite import FunctionRewriter
from unisono._src.tracing.control_flow._source import Definition, Node, find_definition
from unisono._src.tracing.control_flow._syntax import RUNTIME, define_function, with_type_parameters

_FUTURE: Final = functools.reduce(
    operator.or_, (getattr(__future__, feature).compiler_flag for feature in __future__.all_feature_names)
)
_FACTORY: Final = "ag__factory"
_FUNCTION: Final = "ag__function"
_GENERATOR_OR_COROUTINE: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_CONTROL_FLOW: Final = (ast.If, ast.IfExp, ast.While, ast.For, ast.BoolOp, ast.Not, ast.Assert, ast.Call)


def is_rewritten(code: CodeType) -> bool:
    """Whether ``code`` is the result of :func:`rewrite_code`."""
    return RUNTIME in code.co_freevars


def rewrite_definition(code: CodeType) -> Definition | None:
    """The definition that ``code`` was compiled from, rewritten; None if there is nothing to rewrite, or no source."""
    if code.co_flags & _GENERATOR_OR_COROUTINE or is_rewritten(code):
        return None
    definition = find_definition(code)
    if definition is None or not _has_control_flow(definition.node):
        return None
    node = definition.node
    parameters = [*node.args.posonlyargs, *node.args.args]
    first = parameters[0].arg if parameters and "__class__" in code.co_freevars else None
    changed: Node
    if isinstance(node, ast.Lambda):
        changed = copy.copy(node)
        changed.body = rewrite_node(node.body, first)
    else:
        changed = FunctionRewriter(node, definition.class_name, first).rewrite()
        changed.decorator_list, changed.returns = [], None
    changed.args = _strip_parameters(node.args)
    return Definition(changed, definition.class_name)


def rewrite_code(code: CodeType) -> CodeType | None:
    """``code`` rewritten; its free variables are some of those of ``code``, and RUNTIME."""
    definition = rewrite_definition(code)
    if definition is None:
        return None
    node = definition.node
    path = [_FACTORY]
    body: list[ast.stmt]
    if isinstance(node, ast.Lambda):
        body, name = [ast.Expr(node)], code.co_name
    else:
        node.name = name = _FUNCTION  # a call of its own name must reach the original function
        body = [node]
    if definition.class_name is not None:
        # Leading underscores of a class's name do not count for the mangling of private names, so no other class has
        # this name.
        holder = with_type_parameters(ast.ClassDef("____" + definition.class_name, [], [], body, []))
        body = [holder]
        path.append(holder.name)
    free = [each for each in code.co_freevars if each != "__class__" or definition.class_name is None]
    module = ast.Module([define_function(_FACTORY, [*free, RUNTIME], body)], [])
    ast.copy_location(module.body[0], node)
    compiled: CodeType = compile(
        ast.fix_missing_locations(module), code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True
    )
    for each in (*path, name):
        compiled = next(inner for inner in compiled.co_consts if isinstance(inner, CodeType) and inner.co_name == each)
    return compiled.replace(co_name=code.co_name, co_qualname=code.co_qualname, co_firstlineno=code.co_firstlineno)


def _has_control_flow(node: Node) -> bool:
    body: Any = [node.body] if isinstance(node, ast.Lambda) else node.body
    return any(
        isinstance(each, _CONTROL_FLOW) or (isinstance(each, ast.Compare) and len(each.ops) > 1)
        for statement in body
        for each in ast.walk(statement)
    )


def _strip_parameters(arguments: ast.arguments) -> ast.arguments:
    """The parameters without defaults and annotations, which belong to the function and not to its code."""
    bare = copy.deepcopy(arguments)
    bare.defaults, bare.kw_defaults = [], [None] * len(bare.kwonlyargs)
    for each in (*bare.posonlyargs, *bare.args, *bare.kwonlyargs, *filter(None, (bare.vararg, bare.kwarg))):
        each.annotation = None
    return bare
