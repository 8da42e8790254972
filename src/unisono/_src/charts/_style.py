"""The colours of charts, as CSS: they follow the page, or the reader's preference for light or dark."""

from __future__ import annotations

from typing import Final

# Distinct for any kind of colour vision (after Okabe and Ito), darkened or lightened to a contrast of 3:1 and more.
_LIGHT: Final = ("#0072b2", "#d55e00", "#007f5f", "#a3418f", "#8a6d00", "#2a8fc4", "#c23b4b", "#5b5f66")
_DARK: Final = ("#5ab4f0", "#ff9147", "#3ecf9f", "#df86cb", "#e3c44a", "#9ad7ff", "#ff8791", "#b4bac2")
NUM_COLORS: Final = len(_LIGHT)


def chart_style() -> str:
    """The CSS of all charts. Charts contain it, unless they are drawn with ``standalone=False`` for a page that does.

    Elements of a page with the classes ``unisono-swatch`` and ``c1`` … ``c8`` get the colors of series as background.
    A page can set ``--chart-1`` … ``--chart-8``, ``--chart-text``, ``--chart-grid`` and ``--chart-background``.
    """
    base = (
        ".unisono-chart{font:12px system-ui,sans-serif;display:block;max-width:100%;height:auto}"
        ".unisono-chart .line{fill:none;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}"
        ".unisono-chart .grid{stroke-width:1;fill:none}"
        ".unisono-chart .mark{stroke-width:1.2;fill:none}"
        ".unisono-chart .title{font-weight:600;font-size:13px}"
        ".unisono-chart .small{font-size:11px}"
    )
    return f"{base}{_colors(_LIGHT, '#24292f', '#d5dae0', '#ffffff')}@media (prefers-color-scheme:dark){{{_dark()}}}"


def color_class(index: int) -> str:
    """The CSS class of the series with this number; after eight they repeat."""
    return f"c{index % NUM_COLORS + 1}"


def _dark() -> str:
    return _colors(_DARK, "#e6e8eb", "#3b424b", "#14181d")


def _colors(palette: tuple[str, ...], text: str, grid: str, background: str) -> str:
    rules = [
        f".unisono-chart text{{fill:var(--chart-text,{text})}}",
        f".unisono-chart .grid{{stroke:var(--chart-grid,{grid})}}",
        f".unisono-chart .mark{{stroke:var(--chart-text,{text})}}",
        f".unisono-chart .background{{fill:var(--chart-background,{background})}}",
    ]
    for number, color in enumerate(palette, start=1):
        value = f"var(--chart-{number},{color})"
        rules.append(f".unisono-chart .line.c{number}{{stroke:{value}}}.unisono-chart .area.c{number}{{fill:{value}}}")
        rules.append(f".unisono-swatch.c{number}{{background:{value}}}")
    return "".join(rules)
