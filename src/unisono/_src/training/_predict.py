"""`model.predict` under a strategy."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._feeds import open_model_feed
from unisono._src.training._loop import Loop
from unisono._src.training._method_call import MethodCall
from unisono._src.training.callbacks import replace_stock_callbacks

# Outputs of this many calls may stay on the devices before they are fetched.
_UNFETCHED: Final = 2


def predict(model: Any, *, x: Any, batch_size: int | None, verbose: Any, steps: int | None, callbacks: Any) -> Any:
    """Predicts; arguments and result are Keras's. Rows come back in their order, each exactly once."""
    call = MethodCall.of(model, "predict")
    with call.enter_strategy():
        feed = open_model_feed(call, x, batch_size=batch_size, steps=steps)
        cursor = EpochCursor(feed, steps, "steps")
        callbacks = keras_hooks.make_callback_list(
            replace_stock_callbacks(callbacks), model, verbose=verbose, epochs=1, steps=cursor.steps_per_epoch
        )
        with keras_hooks.close_on_error(callbacks):
            try:
                call.build("predict", feed.batch_spec)
                call.pad_sequences("predict", feed)
                outputs = _run(call, cursor, callbacks)
            finally:
                cursor.close()
    feed.release()  # not after an exception: a program may still be reading
    return jax.tree.map(lambda *parts: np.concatenate(parts), *outputs)


def _run(call: MethodCall, cursor: EpochCursor, callbacks: Any) -> list[Any]:
    model = call.model
    model.stop_predicting = False
    callbacks.on_predict_begin()
    variables = call.place_variables("predict")
    # A callback that overrides a batch hook gets the outputs of every batch.
    fetches_each = keras_hooks.needs_every_batch(callbacks.callbacks, "predict")
    loop = Loop(
        model, "predict", call.placement, variables, call.steps_per_call(callbacks, "predict", cursor.batch_spec)
    )
    fetched: list[Any] = []
    unfetched: deque[tuple[Any, int]] = deque()
    cursor.begin_epoch()
    while True:
        first = cursor.steps_in_epoch
        chunk = loop.next_chunk(cursor)
        if chunk is None:
            break
        callbacks.on_predict_batch_begin(first)
        for outputs, _, num_steps in loop.run_chunk(chunk):
            unfetched.append((outputs, num_steps))
            while len(unfetched) > (0 if fetches_each else _UNFETCHED):
                fetched.append(_fetch_rows(*unfetched.popleft()))
        callbacks.on_predict_batch_end(cursor.steps_in_epoch - 1, {"outputs": fetched[-1]} if fetches_each else {})
        if model.stop_predicting:  # not before the first batch, as in Keras: there would be no outputs
            break
    fetched += [_fetch_rows(*each) for each in unfetched]
    callbacks.on_predict_end()
    return fetched


def _fetch_rows(stacked: Any, num_steps: int) -> Any:
    """The outputs of the first ``num_steps`` steps, which are stacked, as rows."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:num_steps].reshape(-1, *leaf.shape[2:]), stacked)
