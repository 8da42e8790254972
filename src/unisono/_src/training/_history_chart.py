"""`unisono.plot_history`: what `fit` returned, as a chart that notebooks show."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class HistoryChart:
    """The values of a metric after each epoch, of training and of validation.

    Attributes:
        metric: the name, such as "loss".
        epochs: the numbers of the epochs, from 1.
        lines: the values, by the name of the line.
    """

    metric: str
    epochs: tuple[int, ...]
    lines: Mapping[str, tuple[float, ...]]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the chart as an SVG file."""
        Path(path).write_text(self._repr_svg_(), encoding="utf-8")

    def _repr_svg_(self) -> str:
        from unisono._src.charts import Series, draw_lines  # here: `import unisono` needs no charts

        series = [Series(name, self.epochs, values) for name, values in self.lines.items()]
        return draw_lines(series, title=self.metric, x_label="epoch", whole_x=True)


def plot_history(history: Any, metric: str = "loss") -> HistoryChart:
    """A chart of ``metric`` over the epochs, with its values in validation where there are any.

    As the last line of a cell, a notebook shows it. `save("loss.svg")` writes a file.

    Args:
        history: what `fit` returned, or its attribute `history`.
        metric: the name of a metric in it.

    >>> chart = plot_history({"loss": [0.9, 0.5], "val_loss": [1.0, 0.7]})
    >>> chart.lines
    {'training': (0.9, 0.5), 'validation': (1.0, 0.7)}
    """
    values: Mapping[str, Sequence[float]] = getattr(history, "history", history)
    if metric not in values:
        found = ", ".join(repr(name) for name in values if not name.startswith("val_")) or "no metrics"
        raise ValueError(f"plot_history: the history has no {metric!r}. It has {found}.")
    names = {"training": metric, "validation": f"val_{metric}"}
    lines = {line: tuple(map(float, values[name])) for line, name in names.items() if name in values}
    if len({*map(len, lines.values())}) > 1:  # validation_freq: in which epochs is not in the history
        del lines["validation"]
    numbers = getattr(history, "epoch", None) or range(len(lines["training"]))
    return HistoryChart(metric, tuple(number + 1 for number in numbers), lines)
