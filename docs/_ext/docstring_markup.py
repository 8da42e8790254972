"""Docstrings are Markdown with Google's sections; autodoc reads reStructuredText.

What docstrings use is translated: fenced blocks, and code between single backticks, which becomes a link where it is
the full path of a public name.
"""

import functools
import inspect
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.public_api import public_modules

_FENCE = re.compile(r"^( *)```(\w*)$")
_CODE = re.compile(r"(?<![`:\\\w])`([^`]+)`(?!`)")
_PUBLIC_PATH = re.compile(r"unisono(?:\.\w+)+")
_PRIVATE_PATH = re.compile(r"unisono\._src\.[\w.]+")


def translate_docstring(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Replaces the lines of a docstring by reStructuredText."""
    result: list[str] = []
    prose: list[str] = []
    in_fence = in_example = False

    def end_prose() -> None:
        result.extend(_CODE.sub(_translate_code, "\n".join(prose)).split("\n") if prose else [])
        prose.clear()

    for line in lines:
        match = _FENCE.match(line)
        if match:
            end_prose()
            in_fence = not in_fence
            result += ["", f"{match[1]}.. code-block:: {match[2] or 'text'}", ""] if in_fence else [""]
        elif in_fence:
            result.append("    " + line)
        elif line.lstrip().startswith(">>>") or (in_example and line.strip()):
            if not in_example:
                end_prose()
            in_example = True
            result.append(line)
        else:
            in_example = False
            prose.append(line)
    end_prose()
    lines[:] = result


def _translate_code(match: re.Match[str]) -> str:
    code = " ".join(match[1].split())
    if _PUBLIC_PATH.fullmatch(code):
        return f":py:obj:`{code}`"
    after = match.string[match.end() : match.end() + 1]
    return f"``{code}``" + ("\\ " if after.isalnum() else "")


def make_paths_public(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Replaces the paths that the types of attributes have in annotations by those that users import."""
    lines[:] = [_PRIVATE_PATH.sub(lambda match: _public_paths().get(match[0], match[0]), line) for line in lines]


@functools.cache
def _public_paths() -> dict[str, str]:
    return {
        f"{value.__module__}.{value.__qualname__}": f"{module.__name__}.{name}"
        for module in public_modules()
        for name in module.__all__
        if inspect.isclass(value := getattr(module, name))
    }


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", translate_docstring, priority=400)  # before napoleon's
    app.connect("autodoc-process-docstring", make_paths_public, priority=600)  # after it: it writes the types
    return {"parallel_read_safe": True, "parallel_write_safe": True}
