"""Hook: a layer that is not told whether it trains does as the layer around it, as in TensorFlow.

With JAX, Keras's steps do not call the model but its `call`, so that nothing is around its layers: a subclassed model
whose `call` does not hand `training` on would train without dropout. And what one layer was told stays in force for
those called after it: `self.base(x, training=False)` would switch off the dropout behind it.

Checked against Keras 3.15.1: `JAXTrainer.compute_loss_and_updates` knows whether it is training and calls
`stateless_call`; a `CallContext` belongs to the layer that was called first and has the attribute `training`.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator
from typing import Any

import keras
from keras.src.backend.common import global_state
from keras.src.backend.jax.trainer import JAXTrainer


class _Here(threading.local):
    """The model whose loss is being computed, and whether it is for training."""

    model: Any = None
    training: bool | None = None


_here = _Here()


def inherit_training() -> None:
    """Installs the hook."""
    keras.Layer.__call__ = _leaving_no_trace(keras.Layer.__call__)
    keras.Layer.stateless_call = _telling(keras.Layer.stateless_call)
    original = JAXTrainer.compute_loss_and_updates

    @functools.wraps(original)
    def compute(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = _here.model, _here.training
        _here.model, _here.training = self, bool(kwargs.get("training", False))
        try:
            return original(self, *args, **kwargs)
        finally:
            _here.model, _here.training = before

    JAXTrainer.compute_loss_and_updates = compute


def _leaving_no_trace(original: Any) -> Any:
    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        around = global_state.get_global_attribute("current_call_ctx")
        if around is None:
            return original(self, *args, **kwargs)
        before = around.get_value("training")
        try:
            return original(self, *args, **kwargs)
        finally:
            around.set_value("training", before)

    return call


def _telling(original: Any) -> Any:
    @functools.wraps(original)
    def stateless_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        training = kwargs.get("training", _here.training if _here.model is self else None)
        with contextlib.nullcontext() if training is None else _around(self, training):
            return original(self, *args, **kwargs)

    return stateless_call


@contextlib.contextmanager
def _around(layer: Any, training: bool) -> Iterator[None]:
    context = layer._get_call_context()
    before = context.get_value("training")
    context.set_value("training", training)
    try:
        yield
    finally:
        context.set_value("training", before)
        layer._maybe_reset_call_context()
