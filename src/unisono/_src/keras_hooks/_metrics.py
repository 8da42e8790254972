"""Hook: Keras's own steps return logs that are a function of the metrics' variables alone.

Checked against Keras 3.15.1: `train_step` and `test_step` end in `compute_metrics`, which returns
`get_metrics_result()`; the loss is tracked by `_loss_tracker`, a `Mean` with a `total`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import keras

_STOCK_METHODS = ("compute_metrics", "get_metrics_result", "_update_metrics_variables")


@dataclass(frozen=True, eq=False)
class MetricsView:
    """Reads logs and loss out of the values of `model.metrics_variables`.

    Attributes:
        logs: the logs that the step would have returned.
        loss_total: the sum of all losses since the metrics were reset.
    """

    logs: Callable[[list[Any]], dict[str, Any]]
    loss_total: Callable[[list[Any]], Any]


def metrics_view(model: Any, step: str) -> MetricsView | None:
    """The view, or None for a model whose own methods may return anything as logs."""
    if not all(is_stock(model, name) for name in (step, *_STOCK_METHODS)):
        return None
    variables = model.metrics_variables
    total = next(i for i, variable in enumerate(variables) if variable is model._loss_tracker.total)

    def logs(values: list[Any]) -> dict[str, Any]:
        with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
            result: dict[str, Any] = model.get_metrics_result()
        return result

    return MetricsView(logs, lambda values: values[total])


def is_stock(model: Any, method: str) -> bool:
    """Whether this method of the model is Keras's own."""
    module: str = getattr(type(model), method).__module__
    return module.startswith("keras.src.")


def has_only_stock_metrics(model: Any) -> bool:
    """Whether all metrics are of Keras's own classes."""
    return all(type(metric).__module__.startswith("keras.src.") for metric in _all_metrics(model))


def _all_metrics(model: Any) -> Iterator[Any]:
    for metric in model.metrics:
        yield metric
        # The metrics given to `compile` are wrapped in one.
        yield from getattr(metric, "metrics", ())
