"""Finds the commands in shell blocks and in the text of pages, and checks them without running them."""

from __future__ import annotations

import argparse
import functools
import re
import shlex
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any
from unittest import mock

from tests.docs.page import ROOT, Block
from unisono_launch._main import main

_INLINE = re.compile(r"(?<!`)`((?:unisono|make|pip install) [^`\n]+(?:\n[^`\n]+)?)`(?!`)")
_FENCED = re.compile(r"^\s*(`{3,}).*?^\s*\1", re.DOTALL | re.MULTILINE)
_OPERATORS = frozenset({"|", "||", "&&", ";", "&", ">", ">>", "<", "2>&1", "2>", "(", ")"})


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a shell block, each as its words, without what a pipe or a redirection adds."""
    text = "\n".join(command for command, _ in console_commands(block)) if block.language == "console" else block.text
    for line in text.replace("\\\n", " ").split("\n"):
        words = shlex.shlex(line, posix=True, punctuation_chars="|&;()<>")
        words.whitespace_split = True
        command: list[str] = []
        try:
            for word in words:
                if word in _OPERATORS:
                    yield from _without_empty(command)
                    command = []
                else:
                    command.append(word)
        except ValueError:  # a quotation over several lines: the shell that runs the block reads it
            continue
        yield from _without_empty(command)


def console_commands(block: Block) -> list[tuple[str, str]]:
    """The commands after `$` of a console block, each with the output below it."""
    found: list[tuple[str, str]] = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        end = 1
        while lines[end - 1].endswith("\\"):
            end += 1
        found.append(("\n".join(lines[:end]), "\n".join(lines[end:])))
    return found


def inline_commands(text: str) -> Iterator[str]:
    """The commands in backquotes in the text of a page, outside blocks."""
    for match in _INLINE.finditer(_FENCED.sub("", text)):
        yield re.sub(r"\s+", " ", match[1])


def problem(words: list[str]) -> str | None:
    """What is wrong with a command of a block, as its own parser says; None if nothing is, or if it is not ours."""
    ours = _from_our_command(words)
    if ours[:1] == ["unisono"]:
        return _problem_of_unisono(ours[1:], parse=True)
    if ours[:1] == ["make"]:
        return _problem_of_make(ours[1:])
    if ours[:2] == ["pip", "install"]:
        return _problem_of_pip(ours[2:])
    return None


def problem_inline(command: str) -> str | None:
    """The same for a command in the text, which may lack its script or have a placeholder as a value."""
    words = re.sub(r"--on( ENGINE)?$", "--on slurm", command.replace("…", " ")).split()
    if words[0] == "make":
        return _problem_of_make(words[1:])
    if words[0] == "pip":
        return _problem_of_pip(words[2:])
    return _problem_of_unisono(words[1:], parse=False)


class _StopAfterParsing(BaseException):
    """A parser has read the arguments: the command is not run. Not caught where commands report errors."""


def _problem_of_unisono(arguments: list[str], *, parse: bool) -> str | None:
    if not arguments or arguments[0] in ("--version", "--help") or not re.match(r"[a-z]", arguments[0]):
        return None
    read, read_known = argparse.ArgumentParser.parse_args, argparse.ArgumentParser.parse_known_args
    unknown: list[str] = []
    is_reading = False

    def stop_after_parsing(parser: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> Any:
        nonlocal is_reading
        if parse:
            is_reading = True
            read(parser, args, namespace)
        else:
            known = set(_options(parser))
            unknown.extend(word for word in map(_option_name, args or ()) if word and word not in known)
        raise _StopAfterParsing

    def stop_after_parsing_known(parser: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> Any:
        """Of a command that leaves the other options to a script."""
        found = read_known(parser, args, namespace) if parse or is_reading else None
        if is_reading:  # `parse_args` calls it
            return found
        raise _StopAfterParsing

    said = StringIO()
    try:
        with (
            mock.patch.object(argparse.ArgumentParser, "parse_args", stop_after_parsing),
            mock.patch.object(argparse.ArgumentParser, "parse_known_args", stop_after_parsing_known),
            redirect_stdout(said),
            redirect_stderr(said),
        ):
            code: object = main(arguments)
    except _StopAfterParsing:
        return f"unknown option: {', '.join(unknown)}" if unknown else None
    except SystemExit as exit_:
        code = exit_.code
    return said.getvalue().strip() if code else None


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    yield from parser._option_string_actions
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for subparser in action.choices.values():
                yield from _options(subparser)


def _option_name(word: str) -> str | None:
    name = re.match(r"--?[a-z][\w-]*", word, re.IGNORECASE)
    return name[0] if name else None


@functools.cache
def _make_targets() -> frozenset[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return frozenset(" ".join(re.findall(r"^([a-z][\w -]*):", makefile, re.MULTILINE)).split())


def _problem_of_make(arguments: list[str]) -> str | None:
    targets = [word for word in arguments if re.fullmatch(r"[a-z][\w-]*", word)]
    missing = [target for target in targets if target not in _make_targets()]
    return f"the Makefile has no target {', '.join(missing)}" if missing else None


@functools.cache
def _extras() -> frozenset[str]:
    return frozenset(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])


def _problem_of_pip(arguments: list[str]) -> str | None:
    named = re.findall(r"(?:unisono|\.)\[([\w,-]+)\]", " ".join(arguments))
    missing = [extra for extras in named for extra in extras.split(",") if extra not in _extras()]
    return f"pyproject.toml has no extra {', '.join(missing)}" if missing else None


def _from_our_command(words: list[str]) -> list[str]:
    """The words from `unisono`, `make` or `pip` on: `srun`, `python -m` or variables may be before it."""
    for position, word in enumerate(words):
        if word in ("unisono", "make", "pip"):
            return words[position:]
    return []


def _without_empty(command: list[str]) -> Iterator[list[str]]:
    if command:
        yield command
