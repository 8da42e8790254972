"""Trains and predicts with the operations of one group on several replicas and on one device, and compares."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np

import unisono
from tests.row_operations._cells import BATCHES, Cell, Group
from tests.row_operations._operations import OPERATIONS

TOLERANCE = 2e-5
"""Of the largest value of each array."""

_FEATURES, _TARGETS = 5, 3


class _RowOperation(keras.layers.Layer):
    def __init__(self, operation: str) -> None:
        super().__init__()
        self._operation = OPERATIONS[operation]

    def call(self, x: Any) -> Any:
        return x + self._operation(x)

    def compute_output_shape(self, shape: Any) -> Any:
        return shape


def compare(group: Group) -> dict[Cell, str]:
    """For each cell: "equal", or what is different."""
    expected = _solve(group, None)
    results = {}
    for replicas in group.replicas:
        found = _solve(group, unisono.MirroredStrategy([f"cpu:{number}" for number in range(replicas)]))
        for name in group.operations:
            results[Cell(name, replicas, group.batches)] = _judge(found[name], expected[name])
    return results


def _solve(group: Group, strategy: Any) -> dict[str, dict[str, list[Any]]]:
    num_rows, batch_size = BATCHES[group.batches]
    random = np.random.default_rng(0)
    x = random.normal(size=(num_rows, _FEATURES)).astype("float32")
    y = random.normal(size=(num_rows, _TARGETS)).astype("float32")
    with contextlib.nullcontext() if strategy is None else strategy.scope():
        model, branches = _build(group)
    outputs = model.predict(x[:batch_size], batch_size=batch_size, verbose=0)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    history = model.fit(x, [y] * len(branches), batch_size=batch_size, shuffle=False, verbose=0).history
    total = "loss" if len(branches) == 1 else None
    return {
        name: {
            "predictions": [output],
            "loss": [np.array(history[total or f"{layers[-1].name}_loss"])],
            "weights": [weight for layer in layers for weight in layer.get_weights()],
        }
        for (name, layers), output in zip(branches.items(), outputs, strict=True)
    }


def _build(group: Group) -> tuple[Any, dict[str, list[Any]]]:
    """The model, and the layers of each of its branches, which share nothing but the input."""
    inputs = keras.Input((_FEATURES,))
    branches, outputs = {}, []
    for number, name in enumerate(group.operations):
        layers = [
            keras.layers.Dense(4, kernel_initializer=_initializer(number), name=f"before{number}"),
            keras.layers.Dense(_TARGETS, kernel_initializer=_initializer(number), name=f"after{number}"),
        ]
        outputs.append(layers[1](_RowOperation(name)(layers[0](inputs))))
        branches[name] = layers
    model = keras.Model(inputs, outputs if len(outputs) > 1 else outputs[0])
    model.compile(keras.optimizers.SGD(1e-3), "mse")
    return model, branches


def _initializer(seed: int) -> Any:
    return keras.initializers.RandomNormal(0.0, 0.7, seed=seed)


def _judge(found: dict[str, list[Any]], expected: dict[str, list[Any]]) -> str:
    different = [
        f"{part} by {distance:.0e}"
        for part in expected
        if (distance := max(_distances(found[part], expected[part]))) > TOLERANCE
    ]
    return "; ".join(different) or "equal"


def _distances(found: list[Any], expected: list[Any]) -> Iterator[float]:
    for one, other in zip(found, expected, strict=True):
        assert np.all(np.isfinite(other)), "one device gives values that are not finite: the operation tests nothing"
        scale = np.max(np.abs(other))
        yield float(np.max(np.abs(one - other)) / scale) if scale else float(np.max(np.abs(one)))
