"""Line charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from unisono._src.charts._frame import LEFT, Frame, LegendEntry, Mark
from unisono._src.charts._numbers import format_number
from unisono._src.charts._scale import Scale, ScaleKind, fit_scale
from unisono._src.charts._style import color_class

_MAX_DOTS: Final = 40  # lines with more points are drawn without dots
_MAX_POINTS: Final = 600  # of a plot about 400 pixels wide


@dataclass(frozen=True)
class Series:
    """One line. ``color`` is the number of its color; without it, the lines of a chart get one after the other.

    Where ``y`` is not finite, or not positive on a logarithmic axis, the line has a gap.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    color: int | None = None
    dashed: bool = False

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"The series {self.name!r} has {len(self.x)} values of x and {len(self.y)} of y.")


def draw_lines(
    series: Sequence[Series],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    x_scale: ScaleKind = "linear",
    y_scale: ScaleKind = "linear",
    marks: Sequence[Mark] = (),
    whole_x: bool = False,
    from_zero: bool = False,
    legend: bool | None = None,
    width: int = 480,
    height: int = 280,
    standalone: bool = True,
) -> str:
    """A line chart as the text of an SVG element, which is also a complete SVG file.

    Args:
        series: the lines.
        title: above the chart.
        x_label: below the x axis.
        y_label: above the y axis.
        x_scale: "linear" or "log".
        y_scale: "linear" or "log".
        marks: vertical lines, with their labels in the legend.
        whole_x: ticks at whole numbers only, as for epochs.
        from_zero: the linear y axis begins at 0.
        legend: whether lines are named in it; without it, if there is more than one.
        width: in pixels; the chart shrinks in a narrower page.
        height: in pixels; more if the legend needs it.
        standalone: with its own colors and background. A page of many charts contains `chart_style()` once instead.

    >>> draw_lines([Series("loss", [1, 2, 3], [0.9, 0.5, 0.4])], title="Loss")[:44]
    '<svg xmlns="http://www.w3.org/2000/svg" clas'
    """
    colors = [number if each.color is None else each.color for number, each in enumerate(series)]
    entries = [LegendEntry(each.name, color, dashed=each.dashed) for each, color in zip(series, colors, strict=True)]
    show_legend = len(series) > 1 if legend is None else legend
    frame = Frame(width, height, title, x_label, y_label, entries if show_legend else (), marks)
    x_values = [value for each in series for value in each.x] + [mark.x for mark in marks]
    y_values = [value for each in series for value in each.y]
    across = fit_scale(x_scale, x_values, LEFT, frame.right)
    up = fit_scale(y_scale, y_values + [0.0] * from_zero, frame.bottom, frame.top, margin=0.06)
    if across is None or up is None:
        return frame.draw(frame.draw_message("no values"), standalone)
    body = [*frame.draw_y_axis(up), *frame.draw_x_axis(across, whole_x)]
    for each, color in zip(series, colors, strict=True):
        body.extend(_draw_line(each, color, across, up))
    return frame.draw([*body, *frame.draw_marks(across)], standalone)


def _draw_line(series: Series, color: int, across: Scale, up: Scale) -> list[str]:
    xs, ys = _thin_points(series.x, series.y)
    path, dots, pen_is_down = [], [], False
    for index, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if not (across.can_place(x) and up.can_place(y)):
            pen_is_down = False
            continue
        place = f"{across.place(x):.1f} {up.place(y):.1f}"
        path.append(f"{'L' if pen_is_down else 'M'}{place}")
        neighbour_follows = index + 1 < len(ys) and across.can_place(xs[index + 1]) and up.can_place(ys[index + 1])
        if len(xs) <= _MAX_DOTS or not (pen_is_down or neighbour_follows):  # a single point has no line
            dots.append((place, f"{series.name}: {format_number(y, 5)} at {format_number(x, 6)}"))
        pen_is_down = True
    dash = ' stroke-dasharray="5 4"' if series.dashed else ""
    name = color_class(color)
    parts = [f'<path class="line {name}" d="{"".join(path)}"{dash}/>'] if path else []
    for place, text in dots:
        cx, cy = place.split()
        parts.append(f'<circle class="area {name}" cx="{cx}" cy="{cy}" r="2.6"><title>{escape(text)}</title></circle>')
    return parts


def _thin_points(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """At most about 600 points: of each group of neighbours the smallest and the largest, so that no peak is lost.

    >>> [len(each) for each in _thin_points(range(100_000), range(100_000))]
    [600, 600]
    """
    if len(x) <= _MAX_POINTS:
        return list(x), list(y)
    size = math.ceil(2 * len(x) / _MAX_POINTS)
    kept: list[int] = []
    for start in range(0, len(x), size):
        group = range(start, min(start + size, len(x)))
        finite = [index for index in group if math.isfinite(y[index])]
        chosen = {min(finite, key=lambda i: y[i]), max(finite, key=lambda i: y[i])} if finite else set()
        if len(finite) < len(group):  # one that is not finite stays: the line has a gap there
            chosen.add(next(index for index in group if not math.isfinite(y[index])))
        kept.extend(sorted(chosen))
    return [x[index] for index in kept], [y[index] for index in kept]
