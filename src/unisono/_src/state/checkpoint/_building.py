"""Objects that are not built when a checkpoint is restored: which can be built, and which need data first."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import keras

from unisono._src.keras_hooks import get_owner
from unisono._src.replicas import context
from unisono._src.state.checkpoint._names import attached_optimizers, metrics_path, named_variables
from unisono._src.state.checkpoint._tree import leaves

NO_MODEL = """The optimizer {path!r} has no slots yet, and the checkpoint has some. {why}, so the variables it trains
are not known. Write optimizer.build(model.trainable_variables) before restore, in the scope of the strategy."""


def build_optimizers(objects: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    """Builds optimizers that are not built now, and were when the values in ``stored`` were saved."""
    every = list(leaves(objects))
    models = [leaf for _, leaf in every if isinstance(leaf, keras.Model)]
    candidates = [(path, leaf, None) for path, leaf in every if isinstance(leaf, keras.optimizers.Optimizer)]
    candidates += [(path, optimizer, model) for path, optimizer, model in attached_optimizers(objects)]
    waiting = [candidate for candidate in candidates if not candidate[1].built]
    if not waiting:
        return
    named = named_variables(objects)
    for path, optimizer, model in waiting:
        if not any(name.startswith(f"{path}/") and name not in named for name in stored):
            continue
        if model is None and len(models) != 1:
            why = f"There are {len(models)} models beside it" if models else "There is no model beside it"
            raise ValueError(NO_MODEL.format(path=path, why=why))
        _build(optimizer, (model or models[0]).trainable_variables)


def optional_paths(objects: Mapping[str, Any]) -> list[str]:
    """The paths of what `compile` adds to a model."""
    metrics = [metrics_path(path) for path, leaf in leaves(objects) if isinstance(leaf, keras.Model)]
    return [*metrics, *(path for path, _, _ in attached_optimizers(objects))]


def unmade_metrics_paths(objects: Mapping[str, Any]) -> list[str]:
    """The paths of metrics that Keras will make with the first batch: those of compiled models that have seen none."""
    return [
        metrics_path(path)
        for path, leaf in leaves(objects)
        if isinstance(leaf, keras.Model) and leaf.compiled and _needs_first_batch(leaf.metrics)
    ]


def unbuilt_paths(objects: Mapping[str, Any]) -> list[str]:
    """The paths of models and layers some of whose variables may not be made yet."""
    return [path for path, leaf in leaves(objects) if isinstance(leaf, keras.Layer) and not leaf.built]


def _needs_first_batch(metrics: list[Any]) -> bool:
    # The metrics given to `compile` are one object, which is built with the first batch, as are those of losses.
    return len(metrics) == 1 or not all(getattr(metric, "built", True) for metric in metrics)


def _build(optimizer: Any, variables: list[Any]) -> None:
    owner = get_owner(variables[0]) if variables else None
    with contextlib.nullcontext() if owner is None else context.enter_strategy(owner):
        optimizer.build(variables)
