"""Writes docs/errors.md: `python -m tests.errors.page docs/errors.md` tries every mistake, and shows its message."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"
os.environ["UNISONO_CPU_DEVICES"] = "8"
os.environ["NPROC"] = "16"

from tests.errors.mistake import Mistake
from tests.errors.run_mistake import run_mistake
from tests.errors.table import TABLE

_LONG = 260

HEAD = """\
# Errors, and what to do

This page lists common mistakes, the messages they cause, and how to fix them. The traceback above a message ends in
your own script; if a message names a line, the line is in your script. A test tries every entry, and `make errors`
generates this page.

In the scripts, `model` is a model with ten outputs that was created in the scope of a strategy, `x` and `y` are arrays
of features and class numbers, and `dataset` yields them row by row, without batches.
"""


def write_page(read: dict[str, str]) -> str:
    """The page, from the message of every mistake by its title."""
    return "\n".join([HEAD, *(line for theme in TABLE for line in _section(theme, read))])


def _section(theme: str, read: dict[str, str]) -> Iterator[str]:
    yield f"## {theme}\n"
    for mistake in TABLE[theme]:
        yield f"### {mistake.title}\n"
        language = "bash" if mistake.how == "command" else "python"
        yield f"<!-- fails -->\n<!-- not run: tests/errors does it -->\n```{language}"
        yield mistake.typed.strip() + "\n```\n"
        yield f"```text\n{_abridge(read[mistake.title])}\n```\n"
        yield f"**Do:** {mistake.do}\n"


def _abridge(message: str) -> str:
    """Without the rest of very long lines, and without lines that name files of the installation."""
    lines = [line.rstrip() for line in message.splitlines() if "/_src/" not in line]
    return "\n".join(line if len(line) < _LONG else line[:_LONG] + "…" for line in lines)


def _read(mistake: Mistake) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return run_mistake(mistake, Path(folder)).message


if __name__ == "__main__":
    messages = {mistake.title: _read(mistake) for mistakes in TABLE.values() for mistake in mistakes}
    Path(sys.argv[1]).write_text(write_page(messages), encoding="utf-8")
