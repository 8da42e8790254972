"""Variables are made before the first call: Keras builds for its own steps, and a user's step is traced once."""

from __future__ import annotations

from typing import Any

import jax

from unisono._src import keras_hooks
from unisono._src.training._custom_steps import has_tf_style_step, trace_used_variables
from unisono._src.training._steps import Kind


def build(model: Any, kind: Kind, batch_spec: Any, *, kept: bool = False) -> None:
    """Makes all variables that steps of this kind need on batches of this shape; ``kept``: to be saved and resumed."""
    _check_numbers(batch_spec)
    if has_tf_style_step(model, kind):
        trace_used_variables(model, kind, batch_spec, kept=kept)
    elif kind == "predict":
        keras_hooks.build_for_prediction(model, keras_hooks.unpack(batch_spec)[0])
    else:
        keras_hooks.build_for_training(model, batch_spec)


def _check_numbers(batch_spec: Any) -> None:
    for leaf in jax.tree.leaves(batch_spec):
        if leaf.dtype.kind in "OSUT":
            raise TypeError(keras_hooks.TEXT_ON_HOST.format(why=f"a batch has an array of text, of shape {leaf.shape}"))
