"""The tables of contents, from docs/navigation.toml.

Directives for them on the pages would be lists of file names to a reader on GitHub.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FILE = Path(__file__).parents[1] / "navigation.toml"


def add_tables_of_contents(app: Sphinx, docname: str, source: list[str]) -> None:
    """Appends to a page the table of contents of each group that belongs to it."""
    groups: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["group"]
    for group in groups:
        if group["page"] != docname:
            continue
        lines = [":hidden:", f":caption: {group['caption']}"] if "caption" in group else [":hidden:"]
        if any("*" in page for page in group["contents"]):
            lines.append(":glob:")
        pages = [re.sub(r"^(.+ <)?", r"\1/", page) for page in group["contents"]]
        source[0] += "\n\n```{toctree}\n" + "\n".join([*lines, "", *pages]) + "\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", add_tables_of_contents)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
