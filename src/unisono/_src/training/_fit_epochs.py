"""The epochs of a `fit`, with its validations and callbacks: Keras's loop as users see it."""

from __future__ import annotations

from typing import Any

import keras

from unisono._src import keras_hooks
from unisono._src.core import measure, read_environment, warn_user
from unisono._src.devices import sync_check
from unisono._src.training._evaluate import Evaluation
from unisono._src.training._fit_arguments import FitArguments
from unisono._src.training._in_sync import check_in_sync
from unisono._src.training._loop import Loop, fetch
from unisono._src.training._method_call import MethodCall
from unisono._src.training._programs import epoch_reset_for
from unisono._src.training._run_checkpointer import RunCheckpointer
from unisono._src.training._steps import first_bad_step
from unisono._src.training._training_state import TrainingState
from unisono._src.training.records import RunRecorder, describe_fit, describe_run


class FitEpochs:
    """Trains a model for the epochs that are left.

    Args:
        call: the model, built.
        arguments: what `fit` was called with.
        training: what it trains with. This class keeps count of the epochs and steps in it.
        checkpointer: saves; None if nothing is to be saved.
        recorder: writes the records of the run; None if there is no run.
    """

    def __init__(
        self,
        call: MethodCall,
        arguments: FitArguments,
        training: TrainingState,
        checkpointer: RunCheckpointer | None,
        recorder: RunRecorder | None,
    ):
        self._call, self._model, self._arguments = call, call.model, arguments
        self._training, self._callbacks = training, training.callbacks
        self._checkpointer, self._recorder = checkpointer, recorder
        self._saved = checkpointer.saved if checkpointer else None
        self._has_bad_loss = False

    def run(self) -> None:
        """Trains."""
        model, training, epochs = self._model, self._training, self._arguments.epochs
        self._begin()
        loop = self._make_loop()
        logs: dict[str, Any] = {}
        try:
            for epoch in range(training.epoch, epochs):
                if model.stop_training and not training.mid_epoch:
                    training.cursor.skip_pass_opened_ahead()
                    break
                logs = self._run_epoch(loop, epoch)
                if model.stop_training:
                    break
        finally:
            if epochs > 0:
                keras_hooks.finish_optimizer(model)
        with measure("callback_seconds"):
            self._callbacks.on_train_end(logs=logs)
        if self._checkpointer:
            self._checkpointer.finish(training, epochs)

    def _begin(self) -> None:
        training, saved = self._training, self._saved
        self._model.stop_training = False
        if self._checkpointer and (saved or read_environment().attempt):
            # The epoch and step from which they resume; 0 if no checkpoint was written.
            reached = (saved.state["epoch"], saved.state["step"]) if saved else (0, 0)
            for callback in self._callbacks.callbacks:
                keras_hooks.prepare_for_resume(callback, *reached)
        with measure("callback_seconds"):
            self._callbacks.on_train_begin()
        training.epoch = keras_hooks.first_epoch(self._model, self._arguments.initial_epoch)
        if saved:
            training.restore(saved)
        if self._checkpointer:
            self._checkpointer.begin(training)
        if self._recorder:
            run, fit = describe_run(self._call.strategy, self._call.placement), self._describe()
            self._recorder.begin(self._model, run, fit, training.epoch, training.step, resumed=saved is not None)

    def _describe(self) -> dict[str, Any]:
        cursor = self._training.cursor
        leaves = keras.tree.flatten(cursor.batch_spec)
        return describe_fit(
            self._model,
            self._arguments.x,
            cursor.feed,
            epochs=self._arguments.epochs,
            steps_per_epoch=cursor.steps_per_epoch,
            batch=next((leaf.shape[0] for leaf in leaves if leaf.shape), None),
        )

    def _make_loop(self) -> Loop:
        training = self._training
        call_ends_at = keras_hooks.call_end_steps(self._callbacks.callbacks, training.step)
        return Loop(
            self._model,
            "train",
            self._call.placement,
            training.variables,
            self._call.steps_per_call(self._callbacks, "train", training.cursor.batch_spec),
            call_ends_at=[*call_ends_at, *(self._checkpointer.call_ends_at if self._checkpointer else [])],
            steps_done=training.step,
        )

    def _run_epoch(self, loop: Loop, epoch: int) -> dict[str, Any]:
        """Trains for one epoch, or for the rest of it, and validates; returns the logs of both."""
        training = self._training
        logs = self._train(loop, epoch)
        if sync_check():
            check_in_sync(self._model)
        validation = training.validation
        if validation is not None and keras_hooks.validates_after(self._model, epoch, self._arguments.validation_freq):
            with self._recorder.validation() if self._recorder else measure("validation_seconds"):
                logs |= self._validate(validation)
        with measure("callback_seconds"):
            self._callbacks.on_epoch_end(epoch, logs)
        training.end_epoch(logs)
        if self._checkpointer:
            self._checkpointer.after_epoch(training)
        if self._recorder:
            self._recorder.end_epoch(epoch, training.step, logs)
        return logs

    def _train(self, loop: Loop, epoch: int) -> dict[str, Any]:
        training = self._training
        mid_epoch = training.mid_epoch
        nan_guard = epoch_reset_for(self._model, self._call.placement)()
        with measure("callback_seconds"):
            self._callbacks.on_epoch_begin(epoch)
        if self._saved:
            if mid_epoch:
                # Again: `on_epoch_begin` has to see the restored weights, and like the reset of the metrics it changes
                # what was restored. A LearningRateScheduler would lower the learning rate a second time.
                training.restore(self._saved)
                nan_guard = training.nan_guard
            self._saved.arrays.clear()  # a copy of everything, on the host
        training.mid_epoch = True
        if self._checkpointer:
            self._checkpointer.begin_pass()
        if self._recorder:
            self._recorder.begin_epoch(epoch, training.step)

        def after_call(logs: Any, nan_guard: Any) -> None:
            training.step, training.logs, training.nan_guard = loop.steps, logs, nan_guard
            if self._recorder:
                self._recorder.after_call(loop.steps, logs)
            if self._checkpointer:
                self._checkpointer.after_call(training)

        logs, nan_guard = loop.run_epoch(
            training.cursor,
            another_follows=epoch + 1 < self._arguments.epochs,
            mid_epoch=mid_epoch,
            nan_guard=nan_guard,
            hooks=keras_hooks.batch_hooks(self._callbacks, "train"),
            is_stopped=lambda: self._model.stop_training,
            after_call=after_call,
        )
        with measure("compute_seconds"):
            logs, nan_guard = fetch((training.last_logs() if logs is None else logs, nan_guard))
        self._has_bad_loss = self._has_bad_loss or _warn_of_bad_loss(epoch, nan_guard, logs)
        return dict(logs or {})

    def _validate(self, validation: Evaluation) -> dict[str, Any]:
        training, checkpointer = self._training, self._checkpointer

        def after_call(logs: Any, nan_guard: Any) -> None:
            if checkpointer:
                checkpointer.after_validation_call(training)

        if checkpointer:
            training.remember_seeds()
            checkpointer.begin_pass()
        logs = validation.run(self._callbacks, after_call)
        return {f"val_{name}": value for name, value in logs.items()}


def _warn_of_bad_loss(epoch: int, nan_guard: Any, logs: Any) -> bool:
    """Warns if a loss of this epoch was no number; returns whether."""
    first_bad = first_bad_step(nan_guard, logs.get("loss", 0.0) if isinstance(logs, dict) else 0.0)
    if first_bad is None:
        return False
    warn_user(
        f"The loss has been {float(logs['loss'])} since epoch {epoch + 1}, step {first_bad + 1}. "
        "Common remedies: a lower learning rate, `clipnorm=` on the optimizer, a look at the batch of that step; "
        "keras.callbacks.TerminateOnNaN() ends training there.",
        RuntimeWarning,
    )
    return True
