"""Metrics begin every epoch at zero."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from unisono import seams
from unisono.runtime import Placement


class MetricsReset:
    """`model.reset_metrics()`, which resets variable by variable, made cheap enough for short epochs.

    The first time it is really called and the values it left are remembered; after that they are put back, all in
    one transfer. Metrics that are not Keras's own may do more in `reset_state`, so they are always called.
    """

    def __init__(self, model: Any, placement: Placement):
        self._model, self._placement = model, placement
        self._values: list[np.ndarray[Any, Any]] | None = None

    def __call__(self) -> None:
        variables = self._model.metrics_variables
        if self._values is None or len(self._values) != len(variables):
            self._model.reset_metrics()
            if seams.only_stock_metrics(self._model):
                self._values = jax.device_get([variable._value for variable in variables])
            return
        for variable, value in zip(variables, self._placement.place_copies(self._values), strict=True):
            variable._value = value
