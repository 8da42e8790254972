"""The directive `command`: a line such as `unisono run --help`, described by the parser of that command.

The parser is asked and not its printed help: lines break as wide as the page is, and options can be searched and
linked to.
"""

import argparse
import contextlib
import functools
import re
from collections.abc import Iterator
from unittest import mock

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from unisono_launch._main import main

_USAGE_WIDTH = 88  # of the theme's column
_OPTION = re.compile(r"(?<![\w`/-])(?:--(?![\w-])|--?[a-z][\w-]*(?:=[\w.:/-]+)?)")
_CODE = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([*|_\\])")


class Command(SphinxDirective):
    """A block with one command line that ends with `--help`."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        program, *arguments = " ".join(self.content).split()
        if program != "unisono" or arguments[-1:] != ["--help"]:
            raise self.error(f"Expected a line such as `unisono run --help`, not: {' '.join(self.content)}")
        source = ["````{eval-rst}", *_describe(find_parser(arguments)), "````"]
        container = nodes.Element()
        self.state.nested_parse(StringList(source, self.env.doc2path(self.env.docname)), self.content_offset, container)
        return container.children


def find_parser(arguments: list[str]) -> argparse.ArgumentParser:
    """The parser that reads the ``arguments`` of `unisono`, the last of which is `--help`."""
    found: list[argparse.ArgumentParser] = []

    def keep(parser: argparse.ArgumentParser, file: object = None) -> None:
        found.append(parser)

    with mock.patch.object(argparse.ArgumentParser, "print_help", keep), contextlib.suppress(SystemExit):
        main(arguments)
    (parser,) = found
    return parser


def _describe(parser: argparse.ArgumentParser) -> Iterator[str]:
    formatter_class = parser.formatter_class
    parser.formatter_class = functools.partial(formatter_class, width=_USAGE_WIDTH)
    yield from _block(re.sub(r"^(usage: | {7})", "", parser.format_usage(), flags=re.MULTILINE))
    yield from (_to_markup(parser.description or ""), "")
    yield from (f".. program:: {parser.prog}", "")
    for group in parser._action_groups:
        actions = [each for action in group._group_actions for each in _expand(action) if each.dest != "help"]
        if actions and group.title not in ("options", "positional arguments"):
            yield from (f".. rubric:: {group.title}", "")
        for action in actions:
            help_text = parser._get_formatter()._expand_help(action) if action.help else ""
            yield from (f".. option:: {_name(action)}", "", f"   {_to_markup(help_text)}", "")
    if formatter_class is argparse.RawDescriptionHelpFormatter:
        yield from _block(parser.epilog or "")
    else:
        yield from (_to_markup(parser.epilog or ""), "")


def _expand(action: argparse.Action) -> list[argparse.Action]:
    """The commands of `unisono`, or the option itself."""
    return list(action._get_subactions()) if isinstance(action, argparse._SubParsersAction) else [action]


def _name(action: argparse.Action) -> str:
    value = action.metavar or (f"{{{','.join(action.choices)}}}" if action.choices else action.dest)
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    return ", ".join(f"{name} {value}" for name in action.option_strings) or str(value)


def _block(text: str) -> list[str]:
    lines = [f"   {line}".rstrip() for line in text.strip().split("\n")]
    return [".. code-block:: text", "", *lines, ""] if text else []


def _to_markup(text: str) -> str:
    """Plain text as reStructuredText, in which options are code: else `--` would become a dash."""
    parts = _CODE.split(text)
    parts[0::2] = [_OPTION.sub(r"`\g<0>`", _SPECIAL.sub(r"\\\1", part)) for part in parts[0::2]]
    return "".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command", Command)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
