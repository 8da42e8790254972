"""`model.fit` under a strategy."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, Literal

import keras

from unisono._src import keras_hooks
from unisono._src.core import active_fit_facts, measure, read_environment, warn_user
from unisono._src.data.plans import as_model_batch
from unisono._src.devices import report_loaded_programs, sync_check
from unisono._src.parameter_servers import ClusterCoordinator, ParameterServerStrategy
from unisono._src.processes import processes
from unisono._src.state.store import LoadedCheckpoint
from unisono._src.training._custom_steps import has_tf_style_step
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._evaluate import Evaluation
from unisono._src.training._feeds import open_model_feed
from unisono._src.training._fit_on_workers import fit_on_workers, open_workers_data
from unisono._src.training._in_sync import check_in_sync
from unisono._src.training._label_range import check_label_range
from unisono._src.training._loop import Loop, fetch
from unisono._src.training._method_call import MethodCall
from unisono._src.training._programs import epoch_reset_for
from unisono._src.training._resume import parse_resume
from unisono._src.training._run_checkpointer import RunCheckpointer, checkpointing
from unisono._src.training._same_call import check_same_call
from unisono._src.training._steps import first_bad_step
from unisono._src.training._training_state import TrainingState, saved_position
from unisono._src.training.callbacks import replace_stock_callbacks
from unisono._src.training.records import RunRecorder, describe_fit, describe_run, recording


def fit(
    model: Any,
    *,
    x: Any,
    y: Any,
    batch_size: int | None,
    epochs: int,
    verbose: Any,
    callbacks: Any,
    validation_split: float,
    validation_data: Any,
    shuffle: bool | Literal["batch"],
    class_weight: dict[int, float] | None,
    sample_weight: Any,
    initial_epoch: int,
    steps_per_epoch: int | None,
    validation_steps: int | None,
    validation_batch_size: int | None,
    validation_freq: Any,
    resume: Any = None,
) -> Any:
    """Trains; arguments and result are Keras's. ``batch_size`` is the global batch.

    ``resume`` is the folder of a run, True for the one of `unisono run`, or a :class:`Resume`.
    """
    call = MethodCall.of(model, "fit")
    epochs, steps_per_epoch = _apply_keras_limits(epochs, steps_per_epoch)
    if validation_split and validation_data is None:
        x, y, sample_weight = as_model_batch((x, y, sample_weight))
        (x, y, sample_weight), validation_data = keras_hooks.split_for_validation(x, y, sample_weight, validation_split)
    callbacks = replace_stock_callbacks(callbacks)
    if isinstance(call.strategy, ParameterServerStrategy):
        with call.enter_strategy():
            coordinator = ClusterCoordinator(call.strategy)
            dataset, num_steps = open_workers_data(
                coordinator, x, y, sample_weight, batch_size, shuffle, class_weight, steps_per_epoch
            )
            validation = None
            if validation_data is not None:
                validation = _open_validation(
                    call, validation_data, validation_batch_size, batch_size, validation_steps, None
                )
            parsed = parse_resume(resume, callbacks)
            with recording(parsed if resume else None) as recorder:
                return fit_on_workers(
                    call,
                    call.strategy,
                    dataset,
                    epochs=epochs,
                    steps_per_epoch=num_steps,
                    initial_epoch=initial_epoch,
                    verbose=verbose,
                    callbacks=callbacks,
                    resume=parsed,
                    validate=None if validation is None else validation.run,
                    validation_freq=validation_freq,
                    recorder=recorder,
                )
    parsed = parse_resume(resume, callbacks)
    with (
        call.enter_strategy(),
        recording(parsed if resume else None) as recorder,  # the folder of a BackupAndRestore is not that of a run
        checkpointing(parsed) as checkpointer,
        contextlib.ExitStack() as stack,
    ):
        saved = checkpointer.saved if checkpointer else None
        position = saved_position(saved, "input")
        with measure("open_input_seconds"):
            feed = open_model_feed(
                call,
                x,
                y,
                trains=True,
                sample_weight=sample_weight,
                batch_size=batch_size,
                steps=steps_per_epoch,
                shuffle=shuffle,
                class_weight=class_weight,
                position=position and position["feed"],
            )
            cursor = EpochCursor(feed, steps_per_epoch, "steps_per_epoch", position)
            stack.callback(cursor.close)
            facts = active_fit_facts()
            if facts is not None:
                facts.data_is_resident = feed.resident_bytes > 0
                facts.add(resident_bytes=feed.resident_bytes)
            validation = None
            if validation_data is not None:
                validation = _open_validation(
                    call, validation_data, validation_batch_size, batch_size, validation_steps, saved
                )
                stack.callback(validation.close)
        call.build("train", feed.batch_spec, resumable=checkpointer is not None)
        if sample_weight is None:  # else rows with such labels may have the weight 0
            check_label_range(model, y)
        if call.placement.spans_processes and not call.reads_own_data(x):
            check_same_call(model, feed.batch_spec, cursor.steps_per_epoch, epochs)
        call.pad_sequences("train", feed)
        if validation is not None and has_tf_style_step(model, "test"):  # variables of validation are saved too
            call.build("test", validation.feed.batch_spec, resumable=checkpointer is not None)
        callbacks = keras_hooks.make_callback_list(
            callbacks, model, history=True, verbose=verbose, epochs=epochs, steps=cursor.steps_per_epoch
        )
        variables = call.place_variables("train")
        training = TrainingState(model, call.placement, variables, cursor, validation, callbacks)
        if verbose and processes().is_chief:
            if saved:
                print(_describe_resume(saved, epochs))
            stack.enter_context(report_loaded_programs(print))
        if checkpointer and saved and _is_finished(saved, epochs):
            training.restore(saved)
            cursor.skip_pass_opened_ahead()
            checkpointer.delete_if_asked()
        else:
            describe = functools.partial(
                describe_fit, model, x, feed, epochs=epochs, steps_per_epoch=cursor.steps_per_epoch
            )
            with keras_hooks.close_on_error(callbacks):
                _train(call, training, epochs, initial_epoch, validation_freq, checkpointer, recorder, describe)
        cursor.close()
        feed.release()  # not after an exception: a program may still be reading
    return model.history


def _open_validation(
    call: MethodCall,
    data: Any,
    validation_batch_size: int | None,
    batch_size: int | None,
    steps: int | None,
    saved: LoadedCheckpoint | None,
) -> Evaluation:
    x, y, sample_weight = keras_hooks.unpack(data)
    position = saved_position(saved, "validation")
    feed = open_model_feed(
        call,
        x,
        y,
        sample_weight=sample_weight,
        batch_size=validation_batch_size or (batch_size if _takes_batch_size(x) else None),
        steps=steps,
        position=position and position["feed"],
    )
    return Evaluation(call, feed, steps, "validation_steps", position)


def _train(
    call: MethodCall,
    training: TrainingState,
    epochs: int,
    initial_epoch: int,
    validation_freq: Any,
    checkpointer: RunCheckpointer | None,
    recorder: RunRecorder | None,
    describe: Callable[..., dict[str, Any]],
) -> None:
    model, callbacks = call.model, training.callbacks
    saved = checkpointer.saved if checkpointer else None
    model.stop_training = False
    if checkpointer and (saved or read_environment().attempt):
        _prepare_callbacks_for_resume(callbacks, saved)
    with measure("callback_seconds"):
        callbacks.on_train_begin()
    training.epoch = keras_hooks.first_epoch(model, initial_epoch)
    if saved:
        training.restore(saved)
    loop = _make_loop(call, training, checkpointer)
    hooks = keras_hooks.batch_hooks(callbacks, "train")
    start_epoch = epoch_reset_for(model, call.placement)
    if checkpointer:
        checkpointer.begin(training)
    if recorder:
        run = describe_run(call.strategy, call.placement)
        leaves = keras.tree.flatten(training.cursor.batch_spec)
        batch = next((leaf.shape[0] for leaf in leaves if leaf.shape), None)
        recorder.begin(model, run, describe(batch=batch), training.epoch, training.step, resumed=saved is not None)

    def after_call(logs: Any, nan_guard: Any) -> None:
        training.step, training.logs, training.nan_guard = loop.steps, logs, nan_guard
        if recorder:
            recorder.after_call(loop.steps, logs)
        if checkpointer:
            checkpointer.after_call(training)

    epoch_logs: dict[str, Any] = {}
    has_bad_loss = False
    try:
        for epoch in range(training.epoch, epochs):
            mid_epoch = training.mid_epoch
            if model.stop_training and not mid_epoch:
                break
            nan_guard = start_epoch()
            with measure("callback_seconds"):
                callbacks.on_epoch_begin(epoch)
            if saved and mid_epoch:
                # Again: `on_epoch_begin` has to see the restored weights, and like the reset of the metrics it changes
                # what was restored. A LearningRateScheduler would lower the learning rate a second time.
                training.restore(saved)
                nan_guard = training.nan_guard
            if saved:
                saved.arrays.clear()  # a copy of everything, on the host
            training.mid_epoch = True
            if checkpointer:
                checkpointer.begin_pass()
            if recorder:
                recorder.begin_epoch(epoch, training.step)
            logs, nan_guard = loop.run_epoch(
                training.cursor,
                another_follows=epoch + 1 < epochs,
                mid_epoch=mid_epoch,
                nan_guard=nan_guard,
                hooks=hooks,
                is_stopped=lambda: model.stop_training,
                after_call=after_call,
            )
            with measure("compute_seconds"):
                logs, nan_guard = fetch((training.last_logs() if logs is None else logs, nan_guard))
            has_bad_loss = has_bad_loss or _warn_of_bad_loss(epoch, nan_guard, logs)
            if sync_check():
                check_in_sync(model)
            epoch_logs = dict(logs or {})
            if training.validation is not None and keras_hooks.validates_after(model, epoch, validation_freq):
                with recorder.validation() if recorder else measure("validation_seconds"):
                    epoch_logs |= _validate(training, training.validation, checkpointer)
            with measure("callback_seconds"):
                callbacks.on_epoch_end(epoch, epoch_logs)
            training.end_epoch(epoch_logs)
            if checkpointer:
                checkpointer.after_epoch(training)
            if recorder:
                recorder.end_epoch(epoch, training.step, epoch_logs)
            if model.stop_training:
                break
    finally:
        if epochs > 0:
            keras_hooks.finish_optimizer(model)
    with measure("callback_seconds"):
        callbacks.on_train_end(logs=epoch_logs)
    if checkpointer:
        checkpointer.finish(training, epochs)


def _prepare_callbacks_for_resume(callbacks: Any, saved: LoadedCheckpoint | None) -> None:
    """Before `on_train_begin`: the epoch and step from which they resume; 0 if no checkpoint was written."""
    reached = (saved.state["epoch"], saved.state["step"]) if saved else (0, 0)
    for callback in callbacks.callbacks:
        keras_hooks.prepare_for_resume(callback, *reached)


def _make_loop(call: MethodCall, training: TrainingState, checkpointer: RunCheckpointer | None) -> Loop:
    callbacks = training.callbacks
    call_ends_at = keras_hooks.call_end_steps(callbacks.callbacks, training.step)
    return Loop(
        call.model,
        "train",
        call.placement,
        training.variables,
        call.steps_per_call(callbacks, "train", training.cursor.batch_spec),
        call_ends_at=[*call_ends_at, *(checkpointer.call_ends_at if checkpointer else [])],
        steps_done=training.step,
    )


def _validate(training: TrainingState, validation: Evaluation, checkpointer: RunCheckpointer | None) -> dict[str, Any]:
    def after_call(logs: Any, nan_guard: Any) -> None:
        if checkpointer:
            checkpointer.after_validation_call(training)

    if checkpointer:
        training.remember_seeds()
        checkpointer.begin_pass()
    logs = validation.run(training.callbacks, after_call)
    return {f"val_{name}": value for name, value in logs.items()}


def _describe_resume(saved: LoadedCheckpoint, epochs: int) -> str:
    if _is_finished(saved, epochs):
        return f"Training already finished; restored {saved.folder}."
    position = saved_position(saved, "input")
    steps = f", after {position['seen_in_epoch']} of its steps" if saved.state["mid_epoch"] else ""
    return f"Training resumes with epoch {saved.state['epoch'] + 1}{steps}; restored {saved.folder}."


def _is_finished(saved: LoadedCheckpoint, epochs: int) -> bool:
    """Whether there is nothing left to train: the run had finished, and no more epochs are asked for than then."""
    finished = saved.state["finished"]
    return finished is not None and epochs <= finished


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


def _takes_batch_size(x: Any) -> bool:
    """Validation data inherits the global batch unless it comes in batches of its own."""
    return all(hasattr(leaf, "shape") for leaf in keras.tree.flatten(x))


def _apply_keras_limits(epochs: int, steps_per_epoch: int | None) -> tuple[int, int | None]:
    """KERAS_MAX_EPOCHS and KERAS_MAX_STEPS_PER_EPOCH shorten a run for a quick look."""
    max_epochs, max_steps = keras.config.max_epochs(), keras.config.max_steps_per_epoch()
    if max_epochs and max_epochs < epochs:
        warn_user(f"Limiting epochs to {max_epochs}")
        epochs = max_epochs
    if max_steps and (not steps_per_epoch or max_steps < steps_per_epoch):
        warn_user(f"Limiting steps_per_epoch to {max_steps}")
        steps_per_epoch = max_steps
    return epochs, steps_per_epoch
