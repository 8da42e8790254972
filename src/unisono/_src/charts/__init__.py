"""Charts as SVG text, without a drawing library: for reports, and for results that show themselves in notebooks."""

from unisono._src.charts._frame import Mark
from unisono._src.charts._lines import Series, draw_lines
from unisono._src.charts._numbers import format_number
from unisono._src.charts._stacked_bars import draw_stacked_bars
from unisono._src.charts._style import chart_style, color_class
