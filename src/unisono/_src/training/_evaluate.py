"""`model.evaluate` under a strategy, and the validation inside of `fit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unisono._src import keras_hooks
from unisono._src.data.feed import Feed
from unisono._src.data.plans import State
from unisono._src.training._built import build
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._feeds import open_model_feed
from unisono._src.training._loop import Loop, fetch
from unisono._src.training._model_call import ModelCall
from unisono._src.training._programs import epoch_start_for
from unisono._src.training._step_variables import step_variables
from unisono._src.training.callbacks import replace_stock_callbacks


class Evaluation:
    """Evaluates a model on a feed, once or after every epoch.

    Args:
        session: the model.
        feed: the data.
        steps: how many batches; None for all.
        name: what the user calls ``steps``.
        place: where the evaluations of an earlier run had come; the feed was opened there.
    """

    def __init__(self, session: ModelCall, feed: Feed, steps: int | None, name: str, place: State = None):
        self._session = session
        self.feed = feed
        self._steps = steps
        self._name = name
        self._cursor: EpochCursor | None = EpochCursor(feed, steps, name, place)
        self._place = place if place is not None and place["ended"] else None
        self.num_steps = self._cursor.steps_per_epoch

    def place(self) -> State:
        """How far evaluations have come in the data: where the last one that ended left it, or the first begins."""
        if self._place is None:
            assert self._cursor is not None  # until the first one begins
            return self._cursor.place()
        return self._place

    def close(self) -> None:
        """Gives the data back, for an evaluation that may never have run."""
        if self._cursor is not None:
            self._cursor.close()
        self.feed.close()

    def run(self, callbacks: Any, after_call: Callable[[Any, Any], None] = lambda logs, watch: None) -> dict[str, Any]:
        """One evaluation, from the first batch; returns the logs. ``after_call`` is called after each of its calls."""
        model = self._session.model
        build(model, "test", self.feed.batch_spec)
        model.stop_evaluating = False
        callbacks.on_test_begin()
        epoch_start_for(model, self._session.placement)()
        variables = step_variables(model, "test")
        self._session.adopt(variables)
        pace = self._session.pace(callbacks, "test", self.feed.batch_spec)
        loop = Loop(model, "test", self._session.placement, variables, pace)
        cursor, self._cursor = self._cursor or EpochCursor(self.feed, self._steps, self._name), None
        if self._place is None:
            self._place = cursor.place()  # a first one that is left is begun again from here
        try:
            logs, _ = loop.epoch(
                cursor,
                hooks=keras_hooks.batch_hooks(callbacks, "test"),
                stopped=lambda: model.stop_evaluating,
                after_call=after_call,
            )
            self._place = cursor.place() | {"ended": True}
        finally:
            cursor.close()
        logs = keras_hooks.pythonify(fetch(logs or {}))
        callbacks.on_test_end(logs)
        return logs


def evaluate(
    model: Any,
    *,
    x: Any,
    y: Any,
    batch_size: int | None,
    verbose: Any,
    sample_weight: Any,
    steps: int | None,
    callbacks: Any,
    return_dict: bool,
    **unknown: Any,
) -> Any:
    """Evaluates; arguments and result are Keras's."""
    if unknown:
        raise TypeError(f"evaluate() got unexpected arguments: {', '.join(sorted(unknown))}.")
    session = ModelCall.of(model, "evaluate")
    with session.entered():
        feed = open_model_feed(session, x, y, sample_weight=sample_weight, batch_size=batch_size, steps=steps)
        evaluation = Evaluation(session, feed, steps, "steps")
        callbacks = keras_hooks.make_callback_list(
            replace_stock_callbacks(callbacks), model, verbose=verbose, epochs=1, steps=evaluation.num_steps
        )
        with keras_hooks.close_on_error(callbacks):
            logs = evaluation.run(callbacks)
    return logs if return_dict else keras_hooks.flatten_logs(model, logs)
