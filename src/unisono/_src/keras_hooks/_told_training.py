"""Hook: what a layer of a functional model was told stays: `base(x, training=False)`, `Dropout(0.5)(x, training=True)`.

So it was in Keras 2. Keras 3 tells all layers of a functional model what the model is told: batch normalisation of a
base that is being fine-tuned would learn new statistics, and dropout that is to stay on would go off in `predict`.

Checked against Keras 3.15.1: a `Node` records `training` whether the caller gave it, a layer around or the default of
`call`; `Functional.call` finds `operation_fn` in its module and overwrites what was recorded.
"""

from __future__ import annotations

import functools
from typing import Any

import keras
from keras.src.models import functional


def preserve_explicit_training() -> None:
    """Installs the hook."""
    keras.Layer.__call__ = _recording_what_was_told(keras.Layer.__call__)
    original = functional.operation_fn

    @functools.wraps(original)
    def operation_fn(operation: Any, **around: Any) -> Any:
        asked = original(operation, **around)
        told = original(operation, **{name: value for name, value in around.items() if name != "training"})

        def call(*args: Any, **kwargs: Any) -> Any:
            return (told if _is_told(operation, kwargs) else asked)(*args, **kwargs)

        return call

    functional.operation_fn = operation_fn


def _recording_what_was_told(original: Any) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        num_nodes = len(getattr(self, "_inbound_nodes", ()))
        result = original(self, *args, **kwargs)
        if "training" not in kwargs:
            for node in getattr(self, "_inbound_nodes", ())[num_nodes:]:
                node.arguments.kwargs.pop("training", None)
        return result

    return call


def _is_told(operation: Any, kwargs: dict[str, Any]) -> bool:
    """Whether it was told something else than the default of its `call`, which stock Keras records as well."""
    if kwargs.get("training") is None or not hasattr(operation, "_call_signature"):
        return False
    return bool(kwargs["training"] != operation._call_signature.parameters["training"].default)
