"""`model.predict` under a strategy."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.training._built import build
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._feeds import open_model_feed
from unisono._src.training._loop import Loop
from unisono._src.training._model_call import ModelCall
from unisono._src.training._step_variables import step_variables
from unisono._src.training.callbacks import replace_stock_callbacks

# Outputs of this many calls may stay on the devices before they are fetched.
_UNFETCHED: Final = 2


def predict(model: Any, *, x: Any, batch_size: int | None, verbose: Any, steps: int | None, callbacks: Any) -> Any:
    """Predicts; arguments and result are Keras's. Rows come back in their order, none lost, none twice."""
    session = ModelCall.of(model, "predict")
    with session.entered():
        feed = open_model_feed(session, x, batch_size=batch_size, steps=steps)
        cursor = EpochCursor(feed, steps, "steps")
        callbacks = keras_hooks.make_callback_list(
            replace_stock_callbacks(callbacks), model, verbose=verbose, epochs=1, steps=cursor.steps_per_epoch
        )
        with keras_hooks.close_on_error(callbacks):
            try:
                build(model, "predict", feed.batch_spec)
                outputs = _run(session, cursor, callbacks)
            finally:
                cursor.close()
    return jax.tree.map(lambda *parts: np.concatenate(parts), *outputs)


def _run(session: ModelCall, cursor: EpochCursor, callbacks: Any) -> list[Any]:
    model = session.model
    model.stop_predicting = False
    callbacks.on_predict_begin()
    variables = step_variables(model, "predict")
    session.adopt(variables)
    watched = keras_hooks.needs_every_batch(callbacks.callbacks, "predict")
    loop = Loop(model, "predict", session.placement, variables, session.pace(callbacks, "predict", cursor.batch_spec))
    fetched: list[Any] = []
    waiting: deque[tuple[Any, int]] = deque()
    cursor.begin_epoch()
    while not model.stop_predicting:
        first = cursor.position
        window = cursor.window(loop.most())
        if window is None:
            break
        callbacks.on_predict_batch_begin(first)
        for outputs, count in loop.run_stacked(window):
            waiting.append((outputs, count))
            while len(waiting) > (0 if watched else _UNFETCHED):
                fetched.append(_rows(*waiting.popleft()))
        callbacks.on_predict_batch_end(cursor.position - 1, {"outputs": fetched[-1]} if watched else {})
    fetched += [_rows(*each) for each in waiting]
    callbacks.on_predict_end()
    return fetched


def _rows(stacked: Any, count: int) -> Any:
    """The outputs of ``count`` steps, which lie above each other, as rows."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:count].reshape(-1, *leaf.shape[2:]), stacked)
