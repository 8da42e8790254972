"""The shapes and dtypes of a model's inputs, where the model knows them before it has seen data.

Checked against Keras 3.15.1: `_inputs_struct` of a functional model is the nested structure of its `keras.Input`s, and
`Sequential._functional` is such a model once a Sequential is built.
"""

from __future__ import annotations

from typing import Any

import keras
from keras.src.models.functional import Functional


def input_spec(model: Any) -> Any | None:
    """A nested structure of `keras.KerasTensor`, the first dimension of each is that of the batch.

    None if the model is neither Sequential nor functional, or has inputs of text, or of a shape with other unknown
    dimensions, or for a fixed number of rows.
    """
    graph = model if isinstance(model, Functional) else getattr(model, "_functional", None)
    if graph is None:
        return None
    known = all(
        each.dtype != "string" and each.shape[0] is None and None not in each.shape[1:]
        for each in keras.tree.flatten(graph._inputs_struct)
    )
    return graph._inputs_struct if known else None
