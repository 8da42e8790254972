"""What every chart has: title, legend, axes with ticks and grid, marks, and the `svg` element around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from unisono._src.charts._legend import LINE_HEIGHT, Legend, LegendEntry, mark_dashes
from unisono._src.charts._numbers import format_ticks
from unisono._src.charts._scale import Scale
from unisono._src.charts._style import chart_style
from unisono._src.charts._text import draw_text

LEFT: Final = 58
RIGHT: Final = 14
_LEAST_PLOT_HEIGHT: Final = 130  # a chart with a long legend becomes higher


@dataclass(frozen=True)
class Mark:
    """A vertical line at ``x``, such as a restart. The legend has an entry for each ``label`` that marks have.

    Browsers show ``detail`` while the pointer is on the line.
    """

    x: float
    label: str
    detail: str = ""


class Frame:
    """The place of the plot inside a chart, and what is drawn around it.

    Args:
        width: of the chart.
        height: of the chart; it is more if the legend needs it.
        title: above all.
        x_label: below the x axis.
        y_label: above the y axis.
        legend: entries for what is in the plot. Those for ``marks`` are added.
        marks: vertical lines in the plot.
    """

    def __init__(
        self,
        width: int,
        height: int,
        title: str,
        x_label: str,
        y_label: str,
        legend: Sequence[LegendEntry],
        marks: Sequence[Mark],
    ):
        self._title, self._x_label, self._y_label, self._marks = title, x_label, y_label, marks
        self._mark_numbers = {label: number for number, label in enumerate(dict.fromkeys(each.label for each in marks))}
        entries = [LegendEntry(label, number, "mark") for label, number in self._mark_numbers.items()]
        self.right = width - RIGHT
        self._legend = Legend([*legend, *entries], self.right)
        self.top = 12 + LINE_HEIGHT * (bool(title) + bool(y_label)) + self._legend.height
        below = 22 + LINE_HEIGHT * bool(x_label)
        self._width, self._height = width, max(height, int(self.top + _LEAST_PLOT_HEIGHT + below))
        self.bottom = self._height - below

    def draw(self, body: Sequence[str], standalone: bool) -> str:
        """The chart with ``body`` in its plot."""
        style = f'<style>{chart_style()}</style><rect class="background" width="100%" height="100%" rx="6"/>'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="unisono-chart" role="img" '
            f'viewBox="0 0 {self._width} {self._height}" width="{self._width}" height="{self._height}" '
            f'aria-label="{escape(self._title or self._y_label)}">'
            f"{style if standalone else ''}{''.join(self._headings())}{''.join(body)}</svg>"
        )

    def draw_x_axis(self, scale: Scale, whole: bool) -> list[str]:
        """Ticks below the plot."""
        parts = []
        ticks = scale.ticks(max(2, int((self.right - LEFT) // 70)), whole)
        for value, text in zip(ticks, format_ticks(ticks, scale.kind), strict=True):
            x = scale.place(value)
            parts.append(f'<path class="grid" d="M{x:.1f} {self.bottom:.1f}v4"/>')
            parts.append(draw_text(x, self.bottom + 16, text, "small", "middle"))
        if self._x_label:
            parts.append(draw_text((LEFT + self.right) / 2, self._height - 6, self._x_label, "small", "middle"))
        return parts

    def draw_y_axis(self, scale: Scale) -> list[str]:
        """Ticks to the left of the plot, with a grid."""
        parts = []
        ticks = scale.ticks(max(2, int((self.bottom - self.top) // 34)))
        for value, text in zip(ticks, format_ticks(ticks, scale.kind), strict=True):
            y = scale.place(value)
            parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{self.right:.1f}"/>')
            parts.append(draw_text(LEFT - 7, y + 4, text, "small", "end"))
        return parts

    def draw_marks(self, scale: Scale) -> list[str]:
        """The vertical lines of the marks that are on the scale."""
        parts = []
        for mark in self._marks:
            if scale.can_place(mark.x) and scale.low <= mark.x <= scale.high:
                x, dashes = scale.place(mark.x), mark_dashes(self._mark_numbers[mark.label])
                line = f"M{x:.1f} {self.top:.1f}V{self.bottom:.1f}"
                tip = f"<title>{escape(mark.detail or mark.label)}</title>"
                parts.append(f'<path class="mark" d="{line}" stroke-dasharray="{dashes}">{tip}</path>')
        return parts

    def draw_message(self, text: str) -> list[str]:
        """A sentence in the place of the plot."""
        return [draw_text(self._width / 2, (self.top + self.bottom) / 2, text, "", "middle")]

    def _headings(self) -> list[str]:
        parts, y = [], 4.0
        if self._title:
            y += LINE_HEIGHT
            parts.append(draw_text(10, y - 4, self._title, "title"))
        parts += self._legend.draw(y)
        if self._y_label:
            parts.append(draw_text(10, y + self._legend.height + LINE_HEIGHT - 4, self._y_label, "small"))
        return parts
