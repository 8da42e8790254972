"""The result of a learning rate range test: a curve, a suggestion, and a chart."""

from __future__ import annotations

import functools
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

# Weight of the steps before in the smoothed loss.
_SMOOTHING: Final = 0.9
# The smoothed loss of the first steps follows single batches; a slope there says nothing.
_STEPS_TO_SETTLE: Final = 5


@dataclass(frozen=True)
class LearningRateCurve:
    """The loss of each step of the test over its learning rate.

    Attributes:
        learning_rates: of the steps that ran. The test ends early where the loss diverges.
        losses: of the same steps, each by itself.
    """

    learning_rates: tuple[float, ...]
    losses: tuple[float, ...]

    @functools.cached_property
    def smoothed(self) -> tuple[float, ...]:
        """An exponential average of the losses, in which the steps before count 0.9; nan after a loss that is."""
        average, values = 0.0, []
        for number, loss in enumerate(self.losses, start=1):
            average = _SMOOTHING * average + (1 - _SMOOTHING) * loss
            values.append(average / (1 - _SMOOTHING**number))
        return tuple(values)

    @functools.cached_property
    def suggestion(self) -> float | None:
        """The learning rate at which the smoothed loss falls fastest; None if it falls nowhere.

        Where it is smallest, training is about to diverge; this is well before.
        """
        losses = np.array(self.smoothed)
        is_finite = np.isfinite(losses)
        end = int(np.argmin(np.where(is_finite, losses, np.inf))) + 1 if is_finite.any() else 0
        if end - _STEPS_TO_SETTLE < 3:
            return None
        slopes = np.gradient(losses[:end], np.log(self.learning_rates[:end]))[_STEPS_TO_SETTLE:]
        steepest = int(np.argmin(slopes))
        return self.learning_rates[_STEPS_TO_SETTLE + steepest] if slopes[steepest] < 0 else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the chart as an SVG file."""
        Path(path).write_text(self._repr_svg_(), encoding="utf-8")

    def _repr_svg_(self) -> str:
        """The chart, which notebooks show. Losses above 1.5 times the first ones are left out."""
        from unisono._src.charts import Mark, Series, draw_lines  # here: `import unisono` needs no charts

        # The last losses, a hundred times the first ones, would make all others a flat line.
        first = max(self.losses[:_STEPS_TO_SETTLE], default=1.0)
        highest = first + 0.5 * abs(first)

        def visible(losses: tuple[float, ...]) -> list[float]:
            return [loss if loss <= highest else math.nan for loss in losses]

        marks = [] if self.suggestion is None else [Mark(self.suggestion, f"suggestion: {self.suggestion:.2g}")]
        return draw_lines(
            [
                Series("loss", self.learning_rates, visible(self.losses)),
                Series("smoothed", self.learning_rates, visible(self.smoothed)),
            ],
            title="Loss of single steps over the learning rate",
            x_label="learning rate",
            x_scale="log",
            marks=marks,
        )

    def __repr__(self) -> str:
        rates = self.learning_rates
        tested = f"{len(rates)} steps" + (f", {rates[0]:.2g} to {rates[-1]:.2g}" if rates else "")
        found = "none" if self.suggestion is None else f"{self.suggestion:.2g}"
        return f"LearningRateCurve({tested}; suggestion: {found})"
