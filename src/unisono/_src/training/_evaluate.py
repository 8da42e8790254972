"""`model.evaluate` under a strategy, and the validation inside `fit`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import keras

from unisono._src import keras_hooks
from unisono._src.core import measure, warn_user
from unisono._src.data.feed import Feed
from unisono._src.data.plans import State
from unisono._src.training._epoch_cursor import EXHAUSTED, EpochCursor
from unisono._src.training._feeds import open_model_feed
from unisono._src.training._fit_arguments import FitArguments
from unisono._src.training._loop import Loop, fetch
from unisono._src.training._method_call import MethodCall
from unisono._src.training._programs import epoch_reset_for
from unisono._src.training.callbacks import replace_stock_callbacks


class Evaluation:
    """Evaluates a model on a feed, once or after every epoch.

    Args:
        call: the model.
        feed: the data.
        steps: how many batches; None for all.
        name: what the user calls ``steps``.
        position: that of an earlier run's evaluations in the data; the feed was opened there.
    """

    def __init__(self, call: MethodCall, feed: Feed, steps: int | None, name: str, position: State = None):
        self._call = call
        self.feed = feed
        self._steps = steps or None
        self._name = name
        self._cursor: EpochCursor | None = EpochCursor(feed, steps, name, position)
        self._position = position if position is not None and position["ended"] else None
        self._batches_of_last: int | None = None
        self.num_steps = self._cursor.steps_per_epoch

    def position(self) -> State:
        """Where the last finished evaluation left the data, or where the first one begins."""
        if self._position is None:
            assert self._cursor is not None  # until the first one begins
            return self._cursor.position()
        return self._position

    def close(self) -> None:
        """Releases the data, also of an evaluation that never ran."""
        if self._cursor is not None:
            self._cursor.close()
        self.feed.close()

    def run(
        self, callbacks: Any, after_call: Callable[[Any, Any], None] = lambda logs, nan_guard: None
    ) -> dict[str, Any]:
        """One evaluation, from the first batch; returns the logs. ``after_call`` is called after each of its calls."""
        call, model = self._call, self._call.model
        if self._batches_of_last is not None and self._steps is None and not self.feed.is_restartable:
            warn_user(EXHAUSTED.format(batches=self._batches_of_last))
        call.build("test", self.feed.batch_spec)
        call.pad_sequences("test", self.feed)
        model.stop_evaluating = False
        with measure("callback_seconds"):
            callbacks.on_test_begin()
        epoch_reset_for(model, call.placement)()
        variables = call.place_variables("test")
        steps_per_call = call.steps_per_call(callbacks, "test", self.feed.batch_spec)
        loop = Loop(model, "test", call.placement, variables, steps_per_call)
        cursor, self._cursor = self._cursor or EpochCursor(self.feed, self._steps, self._name), None
        if self._position is None:
            self._position = cursor.position()  # a first evaluation that is interrupted begins again here
        try:
            logs, _ = loop.run_epoch(
                cursor,
                hooks=keras_hooks.batch_hooks(callbacks, "test"),
                is_stopped=lambda: model.stop_evaluating,
                after_call=after_call,
            )
            self._position = cursor.position() | {"ended": True}
            self._batches_of_last = cursor.steps_in_epoch
        finally:
            cursor.close()
        logs = keras_hooks.pythonify(fetch(logs or {}))
        with measure("callback_seconds"):
            callbacks.on_test_end(logs)
        return logs


def open_validation(call: MethodCall, arguments: FitArguments, position: State = None) -> Evaluation | None:
    """The validation of a `fit`, from the position of an earlier run; None without data for it."""
    if arguments.validation_data is None:
        return None
    x, y, sample_weight = keras_hooks.unpack(arguments.validation_data)
    batch_size = arguments.validation_batch_size or (arguments.batch_size if _takes_batch_size(x) else None)
    feed = open_model_feed(
        call,
        x,
        y,
        sample_weight=sample_weight,
        batch_size=batch_size,
        steps=arguments.validation_steps,
        position=position and position["feed"],
    )
    return Evaluation(call, feed, arguments.validation_steps, "validation_steps", position)


def _takes_batch_size(x: Any) -> bool:
    """Validation data inherits the global batch unless it comes in batches of its own."""
    return all(hasattr(leaf, "shape") for leaf in keras.tree.flatten(x))


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
    call = MethodCall.of(model, "evaluate")
    with call.enter_strategy():
        feed = open_model_feed(call, x, y, sample_weight=sample_weight, batch_size=batch_size, steps=steps)
        with contextlib.closing(Evaluation(call, feed, steps, "steps")) as evaluation:
            callbacks = keras_hooks.make_callback_list(
                replace_stock_callbacks(callbacks), model, verbose=verbose, epochs=1, steps=evaluation.num_steps
            )
            with keras_hooks.close_on_error(callbacks):
                logs = evaluation.run(callbacks)
    feed.release()  # not after an exception: a program may still be reading
    return logs if return_dict else keras_hooks.flatten_logs(model, logs)
