"""Parses the Python code of scripts and notebooks; errors for files that cannot be parsed."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

# Not every line that begins with %: it may be the operator of an expression over two lines.
_SHELL: Final = re.compile(r"^(\s*)(?:!|%{1,2}[A-Za-z]).*$")
_SHELL_VALUE: Final = re.compile(r"^(\s*[\w, ]+=)\s*(?:!|%[A-Za-z]).*$")
_WRITE_FILE: Final = re.compile(r"^%%writefile\s+(?:-a\s+)?(\S+\.py)\s*$")

PYTHON_2 = "{path}, line {line}: this is Python 2 ({text!r}). Make it Python 3 first: print(x), except E as e."
NOT_PYTHON = "{path}, line {line}: {message} ({text!r}). It is not Python 3."
NOT_A_NOTEBOOK = "{path} is not a notebook: {error}"


class UnreadableSourceError(ValueError):
    """A file that is not a script or a notebook of this Python."""


class ParsedSource(NamedTuple):
    """Code, and the names of its lines in reports."""

    path: str
    tree: ast.Module
    line: Callable[[int], str]


def find_source_files(path: Path) -> list[Path]:
    """The file, or the scripts and notebooks in the folder, without hidden ones."""
    if not path.is_dir():
        return [path]
    found = sorted((*path.rglob("*.py"), *path.rglob("*.ipynb")))
    return [each for each in found if not any(part.startswith(".") for part in each.relative_to(path).parts)]


def parse_sources(path: Path) -> Iterator[ParsedSource]:
    """The code of a script, or of a notebook and of the scripts that it writes."""
    if path.suffix == ".ipynb":
        yield from _parse_notebook(path)
    else:
        yield ParsedSource(str(path), _parse(path.read_bytes(), str(path), str), str)


def _parse(code: str | bytes, path: str, line: Callable[[int], str]) -> ast.Module:
    """The code as a tree; UnreadableSourceError with the line if it is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old scripts have many invalid escapes such as "\d"
            return ast.parse(code)
    except ValueError as error:
        raise UnreadableSourceError(f"{path} is not a script: {error}") from error
    except SyntaxError as error:
        where, text = line(error.lineno or 1), (error.text or "").strip()
        old = "Missing parentheses in call" in error.msg or re.match(r"(print|exec)\s+\S|except\s+\w+\s*,", text)
        form = PYTHON_2 if old else NOT_PYTHON
        raise UnreadableSourceError(form.format(path=path, line=where, text=text, message=error.msg)) from error


def _parse_notebook(path: Path) -> Iterator[ParsedSource]:
    """Its cells as one script, and each script that a cell writes with %%writefile."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableSourceError(NOT_A_NOTEBOOK.format(path=path, error=error)) from error
    lines: list[str] = []
    names: list[str] = []
    written: list[tuple[str, list[str], list[str]]] = []
    for number, cell in enumerate(cells, 1):
        text = "".join(cell.get("source", ())) if cell.get("cell_type") == "code" else ""
        code = text.splitlines()
        locations = [f"cell {number}:{line}" for line in range(1, len(code) + 1)]
        file = _WRITE_FILE.match(code[0]) if code else None
        if file is not None:
            written.append((f"{path} ({file[1]})", code[1:], locations[1:]))
        elif not code or not code[0].startswith("%%"):
            lines += code
            names += locations
    for name, code, locations in ((str(path), lines, names), *written):
        if code:
            yield _parse_cells(name, code, locations)


def _parse_cells(path: str, code: list[str], locations: list[str]) -> ParsedSource:
    def line(number: int) -> str:
        return locations[min(number, len(locations)) - 1]

    plain = [_SHELL_VALUE.sub(r"\1 None", _SHELL.sub(r"\1pass", each)) for each in code]
    return ParsedSource(path, _parse("\n".join(plain), path, line), line)
