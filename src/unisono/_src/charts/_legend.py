"""The legend of a chart: names with samples of their lines, in rows above the plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from unisono._src.charts._style import color_class
from unisono._src.charts._text import draw_text, text_width, wrap_text

LINE_HEIGHT: Final = 17
_FONT_SIZE: Final = 12
_LEFT: Final = 10
_SAMPLE: Final = 23  # with the space after it
_GAP: Final = 15  # between two entries
_MAX_LINES: Final = 3

# One for each label of marks. A chart has two: restarts and preemptions.
_MARK_DASHES: Final = ("4 3", "1 3", "9 3")


@dataclass(frozen=True)
class LegendEntry:
    """A name with a sample: of the color with this number, or of the marks with this one."""

    name: str
    number: int
    kind: Literal["line", "area", "mark"] = "line"
    dashed: bool = False


@dataclass(frozen=True)
class Legend:
    """Entries in rows. A name that is wider than the chart continues in the next row."""

    entries: Sequence[LegendEntry]
    right: float

    @property
    def height(self) -> float:
        """Of all rows."""
        return LINE_HEIGHT * max((row + len(lines) for _, row, lines, _ in self._place()), default=0)

    def draw(self, top: float) -> list[str]:
        """The rows, the first of them below ``top``."""
        parts = []
        for x, row, lines, entry in self._place():
            y = top + LINE_HEIGHT * (row + 1) - 4
            parts.append(_draw_sample(x, y, entry))
            full = entry.name if lines[-1].endswith("…") else ""
            for number, line in enumerate(lines):
                parts.append(draw_text(x + _SAMPLE, y + LINE_HEIGHT * number, line, title=full))
        return parts

    def _place(self) -> list[tuple[float, int, list[str], LegendEntry]]:
        """(x, row, lines of its name, entry) of each entry."""
        placed = []
        x, row, height = float(_LEFT), 0, 1
        for entry in self.entries:
            lines = wrap_text(entry.name, self.right - _LEFT - _SAMPLE, _FONT_SIZE, _MAX_LINES)
            wide = _SAMPLE + max(text_width(line, _FONT_SIZE) for line in lines)
            if x > _LEFT and x + wide > self.right:
                x, row, height = float(_LEFT), row + height, 1
            placed.append((x, row, lines, entry))
            x, height = x + wide + _GAP, max(height, len(lines))
        return placed


def mark_dashes(number: int) -> str:
    """How the lines of the marks with this number are dashed."""
    return _MARK_DASHES[number % len(_MARK_DASHES)]


def _draw_sample(x: float, y: float, entry: LegendEntry) -> str:
    if entry.kind == "mark":
        return f'<path class="mark" d="M{x + 9:.1f} {y - 11:.1f}v14" stroke-dasharray="{mark_dashes(entry.number)}"/>'
    color = color_class(entry.number)
    if entry.kind == "area":
        return f'<rect class="area {color}" x="{x + 3:.1f}" y="{y - 9:.1f}" width="12" height="10" rx="2"/>'
    dash = ' stroke-dasharray="5 4"' if entry.dashed else ""
    return f'<path class="line {color}" d="M{x:.1f} {y - 4:.1f}h18"{dash}/>'
