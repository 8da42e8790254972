"""The plot of the page of results: one row for each case, one symbol for each contender.

Every contender has a color and a shape of its own, so that readers who see few colors can tell them apart.
"""

from __future__ import annotations

import math
from html import escape
from typing import NamedTuple

# Files of results, and what the plot calls them.
CASES = {
    "mlp-1": "MLP, 1 CPU device",
    "mlp-2": "MLP, 2 CPU devices",
    "mlp-4": "MLP, 4 CPU devices",
    "mlp-8": "MLP, 8 CPU devices",
    "cnn-1": "CNN, 1 CPU device",
    "cnn-2": "CNN, 2 CPU devices",
    "cnn-4": "CNN, 4 CPU devices",
    "cnn-8": "CNN, 8 CPU devices",
    "evaluate-mlp": "evaluate: MLP, 1 CPU device",
    "evaluate-cnn": "evaluate: CNN, 1 CPU device",
    "predict-mlp": "predict: MLP, 1 CPU device",
    "predict-cnn": "predict: CNN, 1 CPU device",
    "mlp-gpu": "MLP, H200",
    "cnn-gpu": "CNN, H200",
    "large-resnet50": "ResNet-50, H200",
    "large-resnet50-4-epochs": "ResNet-50, 4 epochs, H200",
    "large-gpt2": "GPT-2 small, H200",
    "loops-1": "custom loop, 1 CPU device",
    "loops-2": "custom loop, 2 CPU devices",
    "loops-4": "custom loop, 4 CPU devices",
    "loops-gpu": "custom loop, H200",
    "loops-gpu-input": "custom loop with input, H200",
    "workers-32": "2 processes, batch 32",
    "workers-256": "2 processes, batch 256",
    "sharding-zero3-4": "sharded, 4 CPU devices",
    "sharding-zero3-8": "sharded, 8 CPU devices",
    "sharding-mesh-4": "mesh of 2 x 2 CPU devices",
    "sharding-mesh-8": "mesh of 2 x 4 CPU devices",
}


class Symbol(NamedTuple):
    """How a contender is drawn: an SVG path around (0, 0), and its colors on light and on dark."""

    shape: str
    light: str
    dark: str


_CIRCLE = "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z"
_RING = _CIRCLE + "M-2.2,0a2.2,2.2 0 1,1 4.4,0a2.2,2.2 0 1,1 -4.4,0Z"
_SQUARE = "M-4.7,-4.7h9.4v9.4h-9.4Z"
_DIAMOND = "M0,-6.6L5.4,0L0,6.6L-5.4,0Z"
_TRIANGLE = "M0,-6.2L6,4.6H-6Z"
_TRIANGLE_DOWN = "M0,6.2L6,-4.6H-6Z"
_PLUS = "M-1.9,-6h3.8v4.1h4.1v3.8h-4.1v4.1h-3.8v-4.1h-4.1v-3.8h4.1Z"
_CROSS = "M0,-2.6L3.4,-6L6,-3.4L2.6,0L6,3.4L3.4,6L0,2.6L-3.4,6L-6,3.4L-2.6,0L-6,-3.4L-3.4,-6Z"
_STAR = "M0,-7L2,-2.2L6.6,-2.1L3,0.8L4.3,5.7L0,2.9L-4.3,5.7L-3,0.8L-6.6,-2.1L-2,-2.2Z"

SYMBOLS = {
    "hand-written": Symbol(_CIRCLE, "#5b5f66", "#b4bac2"),
    "shard_map": Symbol(_RING, "#8a6d00", "#e3c44a"),
    "keras-jax": Symbol(_DIAMOND, "#c23b4b", "#ff8791"),
    "keras-model-parallel": Symbol(_STAR, "#9c4a00", "#f0a860"),
    "tensorflow": Symbol(_TRIANGLE, "#d55e00", "#ff9147"),
    "torch": Symbol(_SQUARE, "#007f5f", "#3ecf9f"),
    "torch-tuned": Symbol(_TRIANGLE_DOWN, "#a3418f", "#df86cb"),
    "torch.compile": Symbol(_PLUS, "#5a3fc0", "#b3a1ff"),
    "unisono-fit": Symbol(_CROSS, "#0072b2", "#5ab4f0"),
}

# Narrow, with large text: a phone shows it at half its size.
_LEFT, _WIDTH, _ROW, _TOP, _RIGHT = 210, 410, 30, 116, 20
_LEGEND_COLUMNS, _LEGEND_ROW = 4, 24
_LOWEST, _HIGHEST = 0.4, 32.0


class Point(NamedTuple):
    """A contender's time divided by Unisono's: the median of the rounds, and the quartiles."""

    contender: str
    median: float
    low: float
    high: float


def draw(points: dict[str, list[Point]]) -> str:
    """The cases from top to bottom on a logarithmic axis; Unisono is the thick line at 1."""
    width, bottom = _LEFT + _WIDTH + _RIGHT, _TOP + _ROW * len(points) - 8
    height = bottom + 48
    parts = ['<rect class="background" width="100%" height="100%" rx="6"/>']
    for tick in (0.5, 1, 2, 4, 8, 16, 32):
        x = _x(tick)
        css = "one" if tick == 1 else "grid"
        parts.append(f'<line class="{css}" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 18}" y2="{bottom}"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{tick}</text>')
    for row, (case, its) in enumerate(points.items()):
        y = _TOP + _ROW * row
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 5}" text-anchor="end">{escape(CASES[case])}</text>')
        for point in its:
            css, low, high = _css(point.contender), _x(point.low), _x(point.high)
            label = f"{point.contender}: {point.median:.2f} times the time of Unisono"
            parts.append(f'<line class="{css}" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>')
            parts.append(_draw_symbol(point.contender, _x(point.median), y, label))
    middle = _LEFT + _WIDTH / 2
    parts.append(f'<text x="{middle:.1f}" y="{height - 10}" text-anchor="middle">time relative to Unisono</text>')
    shown = [name for name in SYMBOLS if any(point.contender == name for its in points.values() for point in its)]
    for number, name in enumerate(shown):
        row, column = divmod(number, _LEGEND_COLUMNS)
        x, y = 20 + column * (width - 20) / _LEGEND_COLUMNS, 22 + row * _LEGEND_ROW
        parts.append(_draw_symbol(name, x, y, name))
        parts.append(f'<text x="{x + 12:.1f}" y="{y + 5}">{escape(name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="Time of each contender divided by that of Unisono"><style>{_style()}</style>'
        f"{''.join(parts)}</svg>\n"
    )


def _draw_symbol(contender: str, x: float, y: float, label: str) -> str:
    shape, css = SYMBOLS[contender].shape, _css(contender)
    title = f"<title>{escape(label)}</title>"
    return f'<path class="{css}" fill-rule="evenodd" transform="translate({x:.1f} {y})" d="{shape}">{title}</path>'


def _css(contender: str) -> str:
    return f"s{list(SYMBOLS).index(contender) + 1}"


def _style() -> str:
    light = _colors("light", text="#1c2126", grid="#d5dae0", background="#ffffff")
    dark = _colors("dark", text="#e6e8eb", grid="#3b424b", background="#14181d")
    return f"text{{font:14px sans-serif}}line{{stroke-width:2}}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _colors(scheme: str, *, text: str, grid: str, background: str) -> str:
    rules = [f"text{{fill:{text}}}.one{{stroke:{text}}}.grid{{stroke:{grid}}}.background{{fill:{background}}}"]
    for name, symbol in SYMBOLS.items():
        color, css = getattr(symbol, scheme), _css(name)
        rules.append(f"line.{css}{{stroke:{color}}}path.{css}{{fill:{color};stroke:{background}}}")
    return "".join(rules)


def _x(ratio: float) -> float:
    inside = min(max(ratio, _LOWEST), _HIGHEST)
    return _LEFT + _WIDTH * math.log(inside / _LOWEST) / math.log(_HIGHEST / _LOWEST)
