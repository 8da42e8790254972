"""The learning rates of a model's optimizer, as the callbacks that write curves show them."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np


def learning_rates(model: Any) -> dict[str, float]:
    """The rate by the name of its curve; of an optimizer that consists of several, one for each.

    With several workers each of them has to call it: the rate is computed on the devices.

    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile(keras.optimizers.SGD(0.5), "mse")
    >>> learning_rates(model)
    {'learning_rate': 0.5}
    """
    optimizer = getattr(model.optimizer, "inner_optimizer", model.optimizer)
    if hasattr(optimizer, "optimizers"):
        return {f"learning_rate_{one.name}": to_number(one.learning_rate) for one in optimizer.optimizers}
    return {"learning_rate": to_number(optimizer.learning_rate)} if hasattr(optimizer, "learning_rate") else {}


def to_number(value: Any) -> float:
    """A scalar variable or tensor as a Python number."""
    return float(np.asarray(keras.ops.convert_to_numpy(value)))
