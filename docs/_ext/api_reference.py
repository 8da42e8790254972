"""The directive `reference`: public names, one to a line, described by their docstrings.

A line `module unisono.checkpoint` stands for the docstring of a module. A line `unisono.data.AUTOTUNE: text` describes
a value, which has no docstring, or a second name of a class. Listed with a class are the members that
tests/public_api.txt lists.
"""

import enum
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from docstring_markup import translate_docstring
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.ext.napoleon import GoogleDocstring
from sphinx.util.docutils import SphinxDirective

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests import optional_api
from tests.public_api import public_members

_SENTENCE_END = re.compile(r"(?<=\.)\s")
# Classes of modules that need an extra, which the environment of the site does not have: autodoc cannot import them.
_STATIC = {each.path: each for module in optional_api.MODULES for each in optional_api.static_classes(module)}


class Reference(SphinxDirective):
    """A block of names."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        lines = [line.strip() for line in self.content if line.strip()]
        modules = [line.removeprefix("module ") for line in lines if line.startswith("module ")]
        names = [line for line in lines if not line.startswith("module ")]
        source = [line for module in modules for line in _module_description(module)]
        if len(names) > 1:
            source += ["| Name | What it is or does |", "|---|---|", *map(_table_row, names), ""]
        source += ["````{eval-rst}", *(line for name in names for line in _description(name, self.env.config)), "````"]
        container = nodes.Element()
        self.state.nested_parse(StringList(source, self.env.doc2path(self.env.docname)), self.content_offset, container)
        return container.children


def find_object(path: str) -> Any:
    """The object with that public path, such as unisono.data.Dataset."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _module_description(name: str) -> list[str]:
    is_static = name in optional_api.MODULES
    docstring = optional_api.module_docstring(name) if is_static else importlib.import_module(name).__doc__
    text = inspect.cleandoc(docstring or "")
    return [f"```{{py:module}} {name}", "```", "", *text.splitlines(), ""]


def _table_row(line: str) -> str:
    path, _, text = line.partition(": ")
    if not text:
        docstring = _STATIC[path].docstring if path in _STATIC else find_object(path).__doc__
        paragraph = inspect.cleandoc(docstring or "").partition("\n\n")[0].replace("\n", " ")
        text = _SENTENCE_END.split(paragraph)[0]
    text = text.rstrip(".:").replace("|", "\\|").replace("``", "`")
    return f"| {{py:obj}}`{path.rpartition('.')[2]} <{path}>` | {text} |"


def _description(line: str, config: Config) -> list[str]:
    path, _, text = line.partition(": ")
    if path in _STATIC:
        return _static_description(_STATIC[path], config)
    value = find_object(path)
    if text:
        head = (
            [f".. py:class:: {path}"] if inspect.isclass(value) else [f".. py:data:: {path}", f"   :value: {value!r}"]
        )
        return [*head, "", f"   {text}", ""]
    if not inspect.isclass(value):
        return [f".. autofunction:: {path}", ""]
    members = [member.partition("(")[0] for member in public_members(value)]
    kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
    result = [f".. {kind}:: {path}"]
    if issubclass(value, enum.Enum):
        result.append("   :undoc-members:")
    if members:
        result.append(f"   :members: {', '.join(members)}")
    return [*result, ""]


def _static_description(found: optional_api.StaticClass, config: Config) -> list[str]:
    module, _, name = found.path.rpartition(".")
    lines = [f".. py:class:: {name}{found.parameters}", f"   :module: {module}", ""]
    lines += _indent(_translate(found.docstring, config))
    for member, docstring in found.members.items():
        method = re.sub(r"\(self(?:, )?", "(", member)
        lines += [
            f"   .. py:method:: {name}.{method}",
            f"      :module: {module}",
            "",
            *_indent(_indent(_translate(docstring, config))),
        ]
    return [*lines, ""]


def _translate(docstring: str, config: Config) -> list[str]:
    lines = docstring.splitlines()
    translate_docstring(None, "class", "", None, None, lines)
    return [*GoogleDocstring("\n".join(lines), config, what="class").lines(), ""]


def _indent(lines: list[str]) -> list[str]:
    return [f"   {line}" if line else "" for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("reference", Reference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
