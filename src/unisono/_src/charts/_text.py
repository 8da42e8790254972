"""Text in a chart: its width, its lines, its element."""

from __future__ import annotations

import unicodedata
from html import escape


def text_width(text: str, font_size: float) -> float:
    """About the width of ``text`` in a sans-serif font; East Asian letters are square.

    >>> text_width("loss", 10), text_width("손실", 10)
    (22.4, 20.0)
    """
    letters = sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.56 for letter in text)
    return round(letters * font_size, 1)


def wrap_text(text: str, width: float, font_size: float, max_lines: int) -> list[str]:
    """``text`` in lines that are not wider, at most ``max_lines``; the last one ends in "…" if more would follow.

    >>> wrap_text("restart: worker 1 was killed", 80, 10, 3)
    ['restart:', 'worker 1 was', 'killed']
    >>> wrap_text("runs/a-very-long-name", 60, 10, 2)
    ['runs/a-ver', 'y-long-na…']
    """
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if text_width(longer, font_size) <= width:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and text_width(lines[-1] + letter, font_size) > width:
                lines.append("")
            lines[-1] += letter
    if len(lines) <= max_lines:
        return lines
    last = lines[max_lines - 1]
    while last and text_width(last + "…", font_size) > width:
        last = last[:-1]
    return [*lines[: max_lines - 1], last + "…"]


def draw_text(x: float, y: float, text: str, css: str = "", anchor: str = "start", title: str = "") -> str:
    """A `text` element. Browsers show ``title`` while the pointer is on it."""
    name = f' class="{css}"' if css else ""
    tip = f"<title>{escape(title)}</title>" if title else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{name} text-anchor="{anchor}">{escape(text)}{tip}</text>'
