"""The start of every epoch: metrics at zero, and a new nan guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from unisono._src import keras_hooks
from unisono._src.devices import Placement
from unisono._src.training._steps import new_nan_guard


class EpochReset:
    """`model.reset_metrics()`, which resets variable by variable, made cheap enough for short epochs.

    The first time it is really called, and the values it left are remembered; after that one launch makes them again.
    Metrics that are not Keras's own may do more in `reset_state`, so it is always called.
    """

    def __init__(self, model: Any, placement: Placement):
        self._model, self._placement = model, placement
        self._make_values: Callable[[], tuple[list[jax.Array], jax.Array]] | None = None

    def __call__(self) -> jax.Array:
        """Resets the metrics; returns the nan guard."""
        variables = self._model.metrics_variables
        if self._make_values is None:
            self._model.reset_metrics()
            if keras_hooks.has_only_stock_metrics(self._model):
                self._make_values = self._compile_values([variable._value for variable in variables])
            nan_guard: jax.Array = self._placement.place_replicated(new_nan_guard())
            return nan_guard
        values, nan_guard = self._make_values()
        for variable, value in zip(variables, values, strict=True):
            variable._value = value
        return nan_guard

    def _compile_values(self, values: list[jax.Array]) -> Callable[[], tuple[list[jax.Array], jax.Array]]:
        host = self._placement.fetch(values)
        return jax.jit(
            lambda: ([jnp.asarray(value) for value in host], jnp.asarray(new_nan_guard())),
            out_shardings=([self._placement.layout(value) for value in values], self._placement.replicated),
        )
