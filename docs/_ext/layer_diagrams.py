"""Mermaid diagrams of layers, as boxes in HTML.

GitHub draws Mermaid. Its own script (3 MB of JavaScript) would be loaded from another site, or be a part of this one,
to draw one diagram. Understood are `subgraph` blocks with nodes, and one chain of arrows between the blocks.
"""

import html
import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_SUBGRAPH = re.compile(r'subgraph (\w+)\["(.+)"\]$')
_NODE = re.compile(r'\w+\["(.+)"\]$')
_CHAIN = re.compile(r"\w+(?: --> \w+)+$")


class LayerDiagram(SphinxDirective):
    """A fenced block of the language `mermaid`."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        layers: dict[str, tuple[str, list[str]]] = {}
        order: list[str] = []
        current: list[str] = []
        for line in filter(None, map(str.strip, self.content)):
            if match := _SUBGRAPH.match(line):
                current = []
                layers[match[1]] = (match[2], current)
            elif match := _NODE.match(line):
                current.append(match[1])
            elif _CHAIN.match(line):
                order = line.split(" --> ")
            elif line not in ("flowchart TD", "end"):
                raise self.error(f"Only layers can be drawn (docs/_ext/layer_diagrams.py), not this line: {line}")
        boxes = [_box(*layers[name]) for name in order]
        return [nodes.raw("", f'<div class="layers">{"".join(boxes)}</div>', format="html")]


def _box(title: str, items: list[str]) -> str:
    inner = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    return f'<div class="layer"><p>{html.escape(title)}</p><ul>{inner}</ul></div>'


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("mermaid", LayerDiagram)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
