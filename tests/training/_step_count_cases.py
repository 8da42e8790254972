"""More steps than data, fewer, none: what `fit`, `evaluate` and `predict` return, and how many batches they use.

Run as a script, it prints the results of stock Keras, without importing unisono.
"""

from __future__ import annotations

import functools
import json
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "jax")

import keras
import numpy as np

BATCH = 8
RNG = np.random.default_rng(0)
X, XV = (RNG.normal(size=(rows, 4)).astype("float32") for rows in (40, 24))
Y, YV = X.sum(1, keepdims=True), XV.sum(1, keepdims=True)


class Batches(keras.utils.PyDataset):
    def __init__(self, x: Any, y: Any) -> None:
        super().__init__()
        self._x, self._y = x, y

    def __len__(self) -> int:
        return len(self._x) // BATCH

    def __getitem__(self, index: int) -> Any:
        rows = slice(BATCH * index, BATCH * (index + 1))
        return self._x[rows], self._y[rows]


class Counter(keras.callbacks.Callback):
    """Batches of training, testing and prediction, in a new row for each epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = [[0, 0, 0]]

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.counts.append([0, 0, 0])

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.counts[-1][0] += 1

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        self.counts[-1][1] += 1

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        self.counts[-1][2] += 1


def generator(number: int, x: Any = X, y: Any = Y) -> Iterator[Any]:
    for index in range(number):
        rows = slice(BATCH * (index % 3), BATCH * (index % 3 + 1))
        yield x[rows], y[rows]


def make_model() -> Any:
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.01), "mse")
    return model


def cases() -> dict[str, Callable[[Any, Any], Any]]:
    """By name: a function of the model and of the callbacks."""
    found: dict[str, Callable[[Any, Any], Any]] = {}
    for steps in (None, 0, 2, 3, 50):
        kinds = {"arrays": lambda: (XV, YV), "PyDataset": lambda: (Batches(XV, YV),)}
        for kind, data in kinds.items():
            found[f"validation_steps={steps} {kind}"] = functools.partial(_fit_and_validate, data=data, steps=steps)
            found[f"evaluate steps={steps} {kind}"] = functools.partial(_evaluate, data=data, steps=steps)
            found[f"predict steps={steps} {kind}"] = functools.partial(_predict, data=data, steps=steps)
    for steps in (0, 2, 3, 5, 7):
        for kind, data in {"arrays": lambda: (X, Y), "PyDataset": lambda: (Batches(X, Y),)}.items():
            found[f"steps_per_epoch={steps} {kind}"] = functools.partial(_fit, data=data, steps=steps)
    for number in (2, 4, 12):
        data = functools.partial(_one, generator, number)
        validation = functools.partial(_one, generator, number, XV, YV)
        for steps in (None, 3, 4):
            found[f"steps_per_epoch={steps} generator of {number}"] = functools.partial(_fit, data=data, steps=steps)
        for steps in (None, 2, 5):
            name = f"steps={steps} generator of {number}"
            found[f"validation_{name}"] = functools.partial(_fit_and_validate, data=validation, steps=steps)
            found[f"evaluate {name}"] = functools.partial(_evaluate, data=validation, steps=steps)
            found[f"predict {name}"] = functools.partial(_predict, data=validation, steps=steps)
    return found


def run_case(model: Any, weights: Any, case: Callable[[Any, Any], Any]) -> dict[str, Any]:
    """The result, the numbers of batches, and whether there was a warning."""
    model.set_weights(weights)
    counter = Counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = case(model, [counter])
    return {"result": result, "batches": counter.counts, "has_warned": bool(caught)}


def _one(function: Callable[..., Any], *arguments: Any) -> tuple[Any]:
    return (function(*arguments),)


def _batch_size(data: tuple[Any, ...]) -> dict[str, int]:
    return {"batch_size": BATCH} if len(data) == 2 else {}


def _fit(model: Any, callbacks: Any, data: Any, steps: Any) -> Any:
    given = data()
    options = {"epochs": 4, "shuffle": False, "verbose": 0, **_batch_size(given)}
    return dict(model.fit(*given, steps_per_epoch=steps, callbacks=callbacks, **options).history)


def _fit_and_validate(model: Any, callbacks: Any, data: Any, steps: Any) -> Any:
    given = data()
    options: dict[str, Any] = {"epochs": 3, "batch_size": BATCH, "shuffle": False, "verbose": 0}
    validation = given if len(given) == 2 else given[0]
    options |= {"validation_data": validation, "validation_steps": steps}
    return dict(model.fit(X, Y, callbacks=callbacks, **options).history)


def _evaluate(model: Any, callbacks: Any, data: Any, steps: Any) -> Any:
    given = data()
    return model.evaluate(*given, steps=steps, callbacks=callbacks, verbose=0, **_batch_size(given))


def _predict(model: Any, callbacks: Any, data: Any, steps: Any) -> Any:
    given = data()
    outputs = model.predict(given[0], steps=steps, callbacks=callbacks, verbose=0, **_batch_size(given))
    return np.ravel(outputs).tolist()


if __name__ == "__main__":
    stock = make_model()
    start = stock.get_weights()
    print(json.dumps({name: run_case(stock, start, case) for name, case in cases().items()}))
