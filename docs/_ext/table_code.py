"""Long names in tables may be broken after a dot, a slash or an underscore, so that other columns have room.

The pages are changed, not the documents that they are made from: the search has to find whole names.
"""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_CELL = re.compile(r"<td>.*?</td>", re.DOTALL)
_LONG_CODE = re.compile(r'(?<=<span class="pre">)[^<]{21,}(?=</span>)')
_BREAK = re.compile(r"(?<=[./_=(])")


def break_names(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Inserts `<wbr>` into code in the cells of tables."""
    if "body" in context:
        context["body"] = _CELL.sub(
            lambda cell: _LONG_CODE.sub(lambda code: _BREAK.sub("<wbr>", code[0]), cell[0]), context["body"]
        )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", break_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
