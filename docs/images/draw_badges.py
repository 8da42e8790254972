"""Draws docs/images/badges.svg from pyproject.toml: what is supported. A test compares them.

```
.venv/bin/python docs/images/draw_badges.py
```
"""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TARGET = Path(__file__).with_name("badges.svg")

_LETTER, _HEIGHT, _GAP = 6.6, 20, 6  # pixels; the mean width of a letter, with some room


def read_facts() -> list[tuple[str, str]]:
    """The names and values that are shown."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    ranges = {
        name: text.partition(" ")[0] for name in ("jax", "keras") for text in project["dependencies"] if name in text
    }
    versions = [text.rpartition(" ")[2] for text in project["classifiers"] if "Python :: 3." in text]
    return [
        ("python", f"{versions[0]} – {versions[-1]}"),
        ("jax", ranges["jax"].removeprefix("jax")),
        ("keras", ranges["keras"].removeprefix("keras")),
        ("license", project["license"]),
    ]


def draw(facts: list[tuple[str, str]]) -> str:
    """The badges beside each other, as SVG."""
    parts, left = [], 0.0
    for name, value in facts:
        for text, color in ((name, "#555"), (value.replace("<", "&lt;").replace(">", "&gt;"), "#0b6aa8")):
            shown = name if text == name else value
            width = round(len(shown) * _LETTER + 12, 1)
            parts.append(f'<rect x="{left:.1f}" width="{width}" height="{_HEIGHT}" fill="{color}"/>')
            parts.append(f'<text x="{left + width / 2:.1f}" y="14">{text}</text>')
            left += width
        left += _GAP
    label = ", ".join(f"{name} {value}" for name, value in facts).replace("<", "&lt;").replace(">", "&gt;")
    style = 'font-family="Verdana, sans-serif" font-size="11" fill="#fff" text-anchor="middle"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left - _GAP:.0f}" height="{_HEIGHT}" role="img" '
        f'aria-label="{label}"><g {style}>{"".join(parts)}</g></svg>\n'
    )


if __name__ == "__main__":
    TARGET.write_text(draw(read_facts()))
    print(TARGET)
