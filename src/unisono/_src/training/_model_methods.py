"""The methods that models of a strategy have instead of Keras's: the table of them, and the `*_on_batch` methods."""

from __future__ import annotations

from typing import Any, Final

import jax
import keras
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.feed import Feed, single_batch_feed
from unisono._src.data.plans import as_model_batch
from unisono._src.training._custom_steps import has_tf_style_step
from unisono._src.training._evaluate import evaluate
from unisono._src.training._feeds import text_reader_for
from unisono._src.training._fit import fit
from unisono._src.training._loop import Loop, fetch
from unisono._src.training._method_call import MethodCall
from unisono._src.training._predict import predict
from unisono._src.training._programs import forget_programs
from unisono._src.training._steps import Kind, new_nan_guard
from unisono._src.training._steps_per_call import StepsPerCall


def train_on_batch(
    model: Any, *, x: Any, y: Any, sample_weight: Any, class_weight: dict[int, float] | None, return_dict: bool
) -> Any:
    """One step on one batch; arguments and result are Keras's."""
    if class_weight is not None and sample_weight is not None:
        raise ValueError("train_on_batch takes `sample_weight` or `class_weight`, not both.")
    if class_weight is not None:
        sample_weight = keras_hooks.class_weights(y, class_weight)
    return _run_with_logs(model, "train", (x, y, sample_weight), return_dict)


def test_on_batch(model: Any, *, x: Any, y: Any, sample_weight: Any, return_dict: bool) -> Any:
    """Evaluates one batch; arguments and result are Keras's."""
    return _run_with_logs(model, "test", (x, y, sample_weight), return_dict)


def predict_on_batch(model: Any, *, x: Any) -> Any:
    """The outputs for one batch."""
    call = MethodCall.of(model, "predict")
    with call.enter_strategy():
        feed = single_batch_feed((_read_text(model, _to_arrays(x), trains=False),), call.placement)
        call.build("predict", feed.batch_spec)
        outputs = _run(call, "predict", feed)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[0], outputs)


def _run_with_logs(model: Any, kind: Kind, batch: Any, return_dict: bool) -> Any:
    call = MethodCall.of(model, f"{kind}_on_batch")
    if has_tf_style_step(model, kind):  # as fit gives it: without what is None
        batch = keras.utils.pack_x_y_sample_weight(*batch)
    with call.enter_strategy():
        batch = _to_arrays(batch)
        if isinstance(batch, tuple):
            batch = (_read_text(model, batch[0], trains=kind == "train"), *batch[1:])
        else:
            batch = _read_text(model, batch, trains=kind == "train")
        feed = single_batch_feed(batch, call.placement)
        call.build(kind, feed.batch_spec)
        model.reset_metrics()
        logs = keras_hooks.pythonify(fetch(_run(call, kind, feed)))
    return logs if return_dict else keras_hooks.flatten_logs(model, logs)


def _run(call: MethodCall, kind: Kind, feed: Feed) -> Any:
    variables = call.place_variables(kind)
    chunk = feed.open().next_chunk(1, 1)
    assert chunk is not None, "the feed has one batch"
    nan_guard = call.placement.place_replicated(new_nan_guard()) if kind == "train" else None
    [(result, _, _)] = Loop(call.model, kind, call.placement, variables, StepsPerCall(1)).run_chunk(chunk, nan_guard)
    return result


def _read_text(model: Any, x: Any, trains: bool) -> Any:
    read = text_reader_for(model, x, trains)
    return x if read is None else read(x)


def _to_arrays(batch: Any) -> Any:
    batch = as_model_batch(batch)
    return keras.tree.map_structure(lambda leaf: None if leaf is None else np.asarray(leaf), batch)


MODEL_METHODS: Final = keras_hooks.TrainerMethods(
    fit=fit,
    evaluate=evaluate,
    predict=predict,
    train_on_batch=train_on_batch,
    test_on_batch=test_on_batch,
    predict_on_batch=predict_on_batch,
    compiled=forget_programs,
)
