"""Stacked bars: amounts that add up, such as the parts of a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape

from unisono._src.charts._frame import LEFT, Frame, LegendEntry, Mark
from unisono._src.charts._lines import Series
from unisono._src.charts._numbers import format_number
from unisono._src.charts._scale import Scale, fit_scale
from unisono._src.charts._style import color_class

_MAX_BARS = 200  # neighbours are added up beyond that


def draw_stacked_bars(
    parts: Sequence[Series],
    *,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
    marks: Sequence[Mark] = (),
    whole_x: bool = False,
    width: int = 480,
    height: int = 280,
    standalone: bool = True,
) -> str:
    """A chart with one bar for each x, made of ``parts`` from bottom to top, as the text of an SVG element.

    All parts have the same ``x``, in ascending order; values that are not finite count as 0. With more than 200 bars,
    each one is the mean of some neighbours and touches the next, so the chart is one of areas.

    >>> parts = [Series("compute", [1, 2], [3.0, 3.1]), Series("input wait", [1, 2], [1.0, 0.2])]
    >>> draw_stacked_bars(parts, title="Seconds per epoch").count("<rect class=\\"area")
    6
    """
    if any(list(part.x) != list(parts[0].x) for part in parts):
        raise ValueError("The parts of stacked bars must have the same x.")
    colors = [number if part.color is None else part.color for number, part in enumerate(parts)]
    entries = [LegendEntry(part.name, color, "area") for part, color in zip(parts, colors, strict=True)]
    frame = Frame(width, height, title, x_label, y_label, entries, marks)
    x, columns = _average_neighbours(parts)
    if not x:
        return frame.draw(frame.draw_message("no values"), standalone)
    gaps = _distances_to_neighbours(x)
    across = Scale("linear", x[0] - gaps[0] / 2, x[-1] + gaps[-1] / 2, LEFT, frame.right)
    up = fit_scale("linear", [0.0, *(sum(column) for column in columns)], frame.bottom, frame.top, margin=0.06)
    assert up is not None
    body = [*frame.draw_y_axis(up), *frame.draw_x_axis(across, whole_x)]
    share = 0.8 if len(x) <= 60 else 1.0
    for place, gap, column in zip(x, gaps, columns, strict=True):
        wide = min(share * (across.place(place + gap) - across.place(place)), 60.0)
        left = across.place(place) - wide / 2
        base = 0.0
        for part, color, amount in zip(parts, colors, column, strict=True):
            if amount > 0:
                high = up.place(base) - up.place(base + amount)
                text = escape(f"{part.name}: {format_number(amount)} at {format_number(place, 6)}")
                body.append(
                    f'<rect class="area {color_class(color)}" x="{left:.1f}" y="{up.place(base + amount):.1f}" '
                    f'width="{wide:.1f}" height="{high:.1f}"><title>{text}</title></rect>'
                )
            base += max(amount, 0.0)
    return frame.draw([*body, *frame.draw_marks(across)], standalone)


def _distances_to_neighbours(x: Sequence[float]) -> list[float]:
    """From each x to the nearest other one: bars of this width do not overlap.

    >>> _distances_to_neighbours([0.0, 10.0, 11.0, 20.0]), _distances_to_neighbours([5.0])
    ([10.0, 1.0, 1.0, 9.0], [1.0])
    """
    if len(x) == 1:
        return [1.0]
    steps = [later - sooner or 1.0 for sooner, later in itertools.pairwise(x)]
    return [min(before, after) for before, after in itertools.pairwise([steps[0], *steps, steps[-1]])]


def _average_neighbours(parts: Sequence[Series]) -> tuple[list[float], list[list[float]]]:
    x = list(parts[0].x) if parts else []
    columns = [[part.y[index] if math.isfinite(part.y[index]) else 0.0 for part in parts] for index in range(len(x))]
    size = math.ceil(len(x) / _MAX_BARS)
    if size <= 1:
        return x, columns
    groups = [slice(start, start + size) for start in range(0, len(x), size)]
    return (
        [sum(x[group]) / len(x[group]) for group in groups],
        [[sum(amounts) / len(amounts) for amounts in zip(*columns[group], strict=True)] for group in groups],
    )
