"""What every chart has: title, legend, axes with ticks and grid, marks, and the `svg` element around them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Literal

from unisono._src.charts._numbers import format_number
from unisono._src.charts._scale import Scale
from unisono._src.charts._style import chart_style, color_class

LEFT: Final = 58
RIGHT: Final = 14
_LINE_HEIGHT: Final = 17
_MAX_LEGEND_LETTERS: Final = 40
_MAX_LABELLED_MARKS: Final = 8


@dataclass(frozen=True)
class Mark:
    """A vertical line at ``x``, such as a restart."""

    x: float
    label: str


@dataclass(frozen=True)
class LegendEntry:
    """A name with the color of its series."""

    name: str
    color: int
    kind: Literal["line", "area"] = "line"
    dashed: bool = False


@dataclass(frozen=True)
class Frame:
    """The place of the plot inside a chart of ``width`` × ``height``, and what is drawn around it."""

    width: int
    height: int
    title: str
    x_label: str
    y_label: str
    legend: Sequence[LegendEntry]

    @property
    def top(self) -> float:
        """The upper edge of the plot: below the title, the label of the y axis and the legend."""
        return 12 + _LINE_HEIGHT * (bool(self.title) + bool(self.y_label) + len(self._legend_rows()))

    @property
    def bottom(self) -> float:
        """The lower edge of the plot: above the ticks and the label of the x axis."""
        return self.height - (22 + (_LINE_HEIGHT if self.x_label else 0))

    @property
    def right(self) -> float:
        """The right edge of the plot."""
        return self.width - RIGHT

    def draw(self, body: Sequence[str], standalone: bool) -> str:
        """The chart with ``body`` in its plot."""
        style = f'<style>{chart_style()}</style><rect class="background" width="100%" height="100%" rx="6"/>'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="unisono-chart" role="img" '
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" '
            f'aria-label="{escape(self.title or self.y_label)}">'
            f"{style if standalone else ''}{''.join(self._headings())}{''.join(body)}</svg>"
        )

    def draw_x_axis(self, scale: Scale, whole: bool) -> list[str]:
        """Ticks below the plot."""
        parts = []
        for value in scale.ticks(max(2, int((self.right - LEFT) // 70)), whole):
            x = scale.place(value)
            parts.append(f'<path class="grid" d="M{x:.1f} {self.bottom:.1f}v4"/>')
            parts.append(_text(x, self.bottom + 16, format_number(value, 4), "small", "middle"))
        if self.x_label:
            parts.append(_text((LEFT + self.right) / 2, self.height - 6, self.x_label, "small", "middle"))
        return parts

    def draw_y_axis(self, scale: Scale) -> list[str]:
        """Ticks to the left of the plot, with a grid."""
        parts = []
        for value in scale.ticks(max(2, int((self.bottom - self.top) // 34))):
            y = scale.place(value)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{self.right:.1f}"/>')
            parts.append(_text(LEFT - 7, y + 4, format_number(value), "small", "end"))
        return parts

    def draw_marks(self, marks: Sequence[Mark], scale: Scale) -> list[str]:
        """Vertical lines with labels; the labels of neighbours are on different lines."""
        parts = []
        row_ends: list[float] = []
        for mark in sorted(marks, key=lambda each: each.x):
            if not (scale.can_place(mark.x) and scale.low <= mark.x <= scale.high):
                continue
            x = scale.place(mark.x)
            line = f"M{x:.1f} {self.top:.1f}V{self.bottom:.1f}"
            parts.append(f'<path class="mark" d="{line}"><title>{escape(mark.label)}</title></path>')
            if len(marks) > _MAX_LABELLED_MARKS:
                continue
            wide = text_width(mark.label, 11) + 8
            # To the right of the line, else to its left, else as far to the right as it fits.
            left = x + 4 if x + wide < self.right else x - wide + 4 if x - wide > LEFT else max(4.0, self.right - wide)
            row = next((row for row, end in enumerate(row_ends) if end <= left), len(row_ends))
            row_ends[row : row + 1] = [left + wide]
            parts.append(_text(left, self.top + 11 + 13 * row, mark.label, "small label", "start"))
        return parts

    def draw_message(self, text: str) -> list[str]:
        """A sentence in the place of the plot."""
        return [_text(self.width / 2, (self.top + self.bottom) / 2, text, "", "middle")]

    def _headings(self) -> list[str]:
        parts, y = [], 4.0
        if self.title:
            y += _LINE_HEIGHT
            parts.append(_text(10, y - 4, self.title, "title", "start"))
        for row in self._legend_rows():
            y += _LINE_HEIGHT
            for x, entry in row:
                parts.append(_draw_legend_entry(x, y - 4, entry))
        if self.y_label:
            parts.append(_text(10, y + _LINE_HEIGHT - 4, self.y_label, "small", "start"))
        return parts

    def _legend_rows(self) -> list[list[tuple[float, LegendEntry]]]:
        rows: list[list[tuple[float, LegendEntry]]] = []
        x = float(self.width)
        for entry in self.legend:
            wide = text_width(shorten(entry.name), 12) + 38
            if x + wide > self.right or not rows:
                rows.append([])
                x = 10.0
            rows[-1].append((x, entry))
            x += wide
        return rows


def text_width(text: str, font_size: float) -> float:
    """About the width of ``text`` in a sans-serif font; East Asian letters are square."""
    letters = sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.56 for letter in text)
    return letters * font_size


def shorten(text: str, letters: int = _MAX_LEGEND_LETTERS) -> str:
    """``text``, cut with an ellipsis if it is longer."""
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _draw_legend_entry(x: float, y: float, entry: LegendEntry) -> str:
    color = color_class(entry.color)
    if entry.kind == "area":
        sample = f'<rect class="area {color}" x="{x:.1f}" y="{y - 9:.1f}" width="12" height="10" rx="2"/>'
    else:
        dash = ' stroke-dasharray="5 4"' if entry.dashed else ""
        sample = f'<path class="line {color}" d="M{x:.1f} {y - 4:.1f}h18"{dash}/>'
    return sample + _text(x + (17 if entry.kind == "area" else 23), y, shorten(entry.name), "", "start", entry.name)


def _text(x: float, y: float, text: str, css: str, anchor: str, full: str = "") -> str:
    title = f"<title>{escape(full)}</title>" if full and full != text else ""
    name = f' class="{css}"' if css else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{name} text-anchor="{anchor}">{escape(text)}{title}</text>'
