"""`train_on_batch`, `test_on_batch` and `predict_on_batch` under a strategy."""

from __future__ import annotations

from typing import Any

import jax
import keras
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.feed import single_batch_feed
from unisono._src.training._built import build
from unisono._src.training._custom_steps import has_tf_style_step
from unisono._src.training._feeds import text_reader_for
from unisono._src.training._loop import Loop, fetch
from unisono._src.training._model_call import ModelCall
from unisono._src.training._pace import Pace
from unisono._src.training._step_variables import step_variables
from unisono._src.training._steps import Kind, new_nan_guard


def train_on_batch(
    model: Any, *, x: Any, y: Any, sample_weight: Any, class_weight: dict[int, float] | None, return_dict: bool
) -> Any:
    """One step on one batch; arguments and result are Keras's."""
    if class_weight is not None and sample_weight is not None:
        raise ValueError("train_on_batch takes `sample_weight` or `class_weight`, not both.")
    if class_weight is not None:
        sample_weight = keras_hooks.class_weights(y, class_weight)
    return _logs_of(model, "train", (x, y, sample_weight), return_dict)


def test_on_batch(model: Any, *, x: Any, y: Any, sample_weight: Any, return_dict: bool) -> Any:
    """Evaluates one batch; arguments and result are Keras's."""
    return _logs_of(model, "test", (x, y, sample_weight), return_dict)


def predict_on_batch(model: Any, *, x: Any) -> Any:
    """The outputs for one batch."""
    session = ModelCall.of(model, "predict")
    with session.entered():
        feed = single_batch_feed((_read(model, _as_arrays(x), trains=False),), session.placement)
        build(model, "predict", feed.batch_spec)
        outputs = _run(session, "predict", feed)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[0], outputs)


def _logs_of(model: Any, kind: Kind, batch: Any, return_dict: bool) -> Any:
    session = ModelCall.of(model, f"{kind}_on_batch")
    if has_tf_style_step(model, kind):  # as fit gives it: without what is None
        batch = keras.utils.pack_x_y_sample_weight(*batch)
    with session.entered():
        batch = _as_arrays(batch)
        if isinstance(batch, tuple):
            batch = (_read(model, batch[0], trains=kind == "train"), *batch[1:])
        else:
            batch = _read(model, batch, trains=kind == "train")
        feed = single_batch_feed(batch, session.placement)
        build(model, kind, feed.batch_spec)
        model.reset_metrics()
        logs = keras_hooks.pythonify(fetch(_run(session, kind, feed)))
    return logs if return_dict else keras_hooks.flatten_logs(model, logs)


def _run(session: ModelCall, kind: Kind, feed: Any) -> Any:
    variables = step_variables(session.model, kind)
    session.adopt(variables)
    window = feed.open().next_chunk(1, 1)
    watch = session.placement.place_replicated(new_nan_guard()) if kind == "train" else None
    result, _ = Loop(session.model, kind, session.placement, variables, Pace(1)).run(window, watch)
    return result


def _read(model: Any, x: Any, trains: bool) -> Any:
    read = text_reader_for(model, x, trains)
    return x if read is None else read(x)


def _as_arrays(batch: Any) -> Any:
    return keras.tree.map_structure(lambda leaf: None if leaf is None else np.asarray(leaf), batch)
