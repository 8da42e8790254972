"""Hook: Keras's own steps return logs that are a function of the metrics' variables alone.

Checked against Keras 3.15.1: `train_step` and `test_step` end in `compute_metrics`, which returns
`get_metrics_result()`; the loss is tracked by `_loss_tracker`, a `Mean` with a `total`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import keras
from keras.src.backend.jax.trainer import JAXTrainer
from keras.src.trainers.trainer import Trainer

from unisono._src import hooks

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
    if not all(_is_stock(model, name) for name in (step, *_STOCK_METHODS)):
        return None
    variables = model.metrics_variables
    total = next(i for i, variable in enumerate(variables) if variable is model._loss_tracker.total)

    def logs(values: list[Any]) -> dict[str, Any]:
        with keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True))):
            result: dict[str, Any] = model.get_metrics_result()
        return result

    return MetricsView(logs, lambda values: values[total])


def check_stock_steps() -> None:
    """Checks that Keras's steps return what its metrics hold: :func:`metrics_view` relies on it."""
    why = "the logs of a compiled step are read from the variables of the metrics"
    for name in ("train_step", "test_step"):
        hooks.require(JAXTrainer, name, expects="calls _update_metrics_variables", why=why)
    hooks.require(JAXTrainer, "_update_metrics_variables", expects="calls compute_metrics", why=why)
    hooks.require(Trainer, "compute_metrics", expects="calls get_metrics_result", why=why)
    hooks.require(Trainer, "_loss_tracker", expects="instance attribute", why=why)


def _is_stock(model: Any, method: str) -> bool:
    """Whether this method of the model is Keras's own: defined by a class of the package `keras`."""
    return _is_of_keras(next(kind for kind in type(model).__mro__ if method in vars(kind)))


def has_only_stock_metrics(model: Any) -> bool:
    """Whether all metrics are of Keras's own classes."""
    return all(_is_of_keras(type(metric)) for metric in _all_metrics(model))


def _is_of_keras(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "keras"


def _all_metrics(model: Any) -> Iterator[Any]:
    for metric in model.metrics:
        yield metric
        # The metrics given to `compile` are wrapped in one.
        yield from getattr(metric, "metrics", ())
