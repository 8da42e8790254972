"""`model.fit` under a strategy."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import keras

from unisono._src import keras_hooks
from unisono._src.core import read_environment
from unisono._src.devices import sync_check
from unisono._src.processes import processes
from unisono._src.state.store import LoadedCheckpoint
from unisono._src.training._built import build
from unisono._src.training._custom_steps import has_tf_style_step
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._evaluate import Evaluation
from unisono._src.training._feeds import open_model_feed
from unisono._src.training._in_sync import check_in_sync
from unisono._src.training._loop import Loop, fetch
from unisono._src.training._model_call import ModelCall
from unisono._src.training._programs import epoch_start_for
from unisono._src.training._resume import parse_resume
from unisono._src.training._run_checkpointer import RunCheckpointer, checkpointing
from unisono._src.training._step_variables import step_variables
from unisono._src.training._steps import first_bad_step
from unisono._src.training._training_state import TrainingState, saved_position
from unisono._src.training.callbacks import replace_stock_callbacks


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
    session = ModelCall.of(model, "fit")
    epochs, steps_per_epoch = _capped(epochs, steps_per_epoch)
    if validation_split and validation_data is None:
        (x, y, sample_weight), validation_data = keras_hooks.split_for_validation(x, y, sample_weight, validation_split)
    callbacks = replace_stock_callbacks(callbacks)
    with session.entered(), checkpointing(parse_resume(resume, callbacks)) as keeper:
        saved = keeper.saved if keeper else None
        place = saved_position(saved, "input")
        feed = open_model_feed(
            session,
            x,
            y,
            trains=True,
            sample_weight=sample_weight,
            batch_size=batch_size,
            steps=steps_per_epoch,
            shuffle=shuffle,
            class_weight=class_weight,
            position=place and place["feed"],
        )
        cursor = EpochCursor(feed, steps_per_epoch, "steps_per_epoch", place)
        validation = None
        try:
            if validation_data is not None:
                val_x, val_y, val_weight = keras_hooks.unpack(validation_data)
                val_place = saved_position(saved, "validation")
                validation = Evaluation(
                    session,
                    open_model_feed(
                        session,
                        val_x,
                        val_y,
                        sample_weight=val_weight,
                        batch_size=validation_batch_size or (batch_size if _takes_batch_size(val_x) else None),
                        steps=validation_steps,
                        position=val_place and val_place["feed"],
                    ),
                    validation_steps,
                    "validation_steps",
                    val_place,
                )
            build(model, "train", feed.batch_spec, kept=keeper is not None)
            if validation is not None and has_tf_style_step(model, "test"):  # what only validations use is kept too
                build(model, "test", validation.feed.batch_spec, kept=keeper is not None)
            callbacks = keras_hooks.make_callback_list(
                callbacks, model, history=True, verbose=verbose, epochs=epochs, steps=cursor.steps_per_epoch
            )
            variables = step_variables(model, "train")
            session.adopt(variables)
            training = TrainingState(model, session.placement, variables, cursor, validation, callbacks)
            if saved and verbose and processes().is_chief:
                print(_going_on(saved, epochs))
            if keeper and saved and _has_ended(saved, epochs):
                training.restore(saved)
                keeper.forget()
            else:
                with keras_hooks.close_on_error(callbacks):
                    _train(session, training, epochs, initial_epoch, validation_freq, keeper)
            cursor.close()
            feed.release()  # after an exception this is left out: a program may still be reading
        finally:
            cursor.close()
            if validation is not None:
                validation.close()
    return model.history


def _train(
    session: ModelCall,
    training: TrainingState,
    epochs: int,
    initial_epoch: int,
    validation_freq: Any,
    keeper: RunCheckpointer | None,
) -> None:
    model, cursor, callbacks, validation = session.model, training.cursor, training.callbacks, training.validation
    saved = keeper.saved if keeper else None
    model.stop_training = False
    if saved or (keeper and read_environment().attempt):
        reached = (saved.state["epoch"], saved.state["step"]) if saved else (0, 0)
        for callback in callbacks.callbacks:
            keras_hooks.prepare_for_resume(callback, *reached)
    callbacks.on_train_begin()
    training.epoch = keras_hooks.first_epoch(model, initial_epoch)
    if saved:
        training.restore(saved)
    loop = Loop(
        model,
        "train",
        session.placement,
        training.variables,
        session.pace(callbacks, "train", cursor.batch_spec),
        grids=[*keras_hooks.step_grids(callbacks.callbacks, training.step), *(keeper.grids if keeper else [])],
        done=training.step,
    )
    hooks = keras_hooks.batch_hooks(callbacks, "train")
    start_epoch = epoch_start_for(model, session.placement)
    if keeper:
        keeper.begin(training)

    def after_call(logs: Any, watch: Any) -> None:
        training.step, training.logs, training.watch = loop.steps, logs, watch
        if keeper:
            keeper.after_call(training)

    def after_validation_call(logs: Any, watch: Any) -> None:
        if keeper:
            keeper.after_validation_call(training)

    epoch_logs: dict[str, Any] = {}
    try:
        for epoch in range(training.epoch, epochs):
            within = training.within
            if model.stop_training and not within:
                break
            watch = start_epoch()
            callbacks.on_epoch_begin(epoch)
            if saved and within:
                training.restore(saved)  # once more: the beginning of an epoch has changed metrics and callbacks
                watch = training.watch
            if saved:
                saved.arrays.clear()  # a copy of everything, on the host
            training.within = True
            logs, watch = loop.epoch(
                cursor,
                another_follows=epoch + 1 < epochs,
                within=within,
                watch=watch,
                hooks=hooks,
                stopped=lambda: model.stop_training,
                after_call=after_call,
            )
            logs, watch = fetch((training.logs if logs is None else logs, watch))
            _report_bad_loss(epoch, watch, logs)
            if sync_check():
                check_in_sync(model)
            epoch_logs = dict(logs or {})
            if validation is not None and keras_hooks.validates_after(model, epoch, validation_freq):
                if keeper:
                    training.before_validation()
                val_logs = validation.run(callbacks, after_validation_call)
                epoch_logs.update({f"val_{name}": value for name, value in val_logs.items()})
            callbacks.on_epoch_end(epoch, epoch_logs)
            training.end_epoch(epoch_logs)
            if keeper:
                keeper.after_epoch(training)
            if model.stop_training:
                break
    finally:
        if epochs > 0:
            keras_hooks.finish_optimizer(model)
    callbacks.on_train_end(logs=epoch_logs)
    if keeper:
        keeper.finish(training, epochs)


def _going_on(saved: LoadedCheckpoint, epochs: int) -> str:
    if _has_ended(saved, epochs):
        return f"Training had come to its end: {saved.folder} is restored."
    place = saved_position(saved, "input")
    steps = f", after {place['seen_in_epoch']} steps of it" if saved.state["within"] else ""
    return f"Training goes on with epoch {saved.state['epoch'] + 1}{steps}: {saved.folder} is restored."


def _has_ended(saved: LoadedCheckpoint, epochs: int) -> bool:
    """Whether there is nothing left to train: it had come to its end, and no more epochs are asked for than then."""
    finished = saved.state["finished"]
    return finished is not None and epochs <= finished


def _report_bad_loss(epoch: int, watch: Any, logs: Any) -> None:
    first_bad = first_bad_step(watch, logs.get("loss", 0.0) if isinstance(logs, dict) else 0.0)
    if first_bad is not None:
        warnings.warn(
            f"The loss is {float(logs['loss'])} since epoch {epoch + 1}, step {first_bad + 1}. "
            "Common remedies: a lower learning rate, `clipnorm=` on the optimizer, a look at the batch of that step; "
            "keras.callbacks.TerminateOnNaN() ends training there.",
            RuntimeWarning,
            stacklevel=2,
        )


def _takes_batch_size(x: Any) -> bool:
    """Validation data inherits the global batch unless it comes in batches of its own."""
    return all(hasattr(leaf, "shape") for leaf in keras.tree.flatten(x))


def _capped(epochs: int, steps_per_epoch: int | None) -> tuple[int, int | None]:
    """KERAS_MAX_EPOCHS and KERAS_MAX_STEPS_PER_EPOCH shorten a run for a quick look."""
    max_epochs, max_steps = keras.config.max_epochs(), keras.config.max_steps_per_epoch()
    if max_epochs and max_epochs < epochs:
        warnings.warn(f"Limiting epochs to {max_epochs}", stacklevel=4)
        epochs = max_epochs
    if max_steps and (not steps_per_epoch or max_steps < steps_per_epoch):
        warnings.warn(f"Limiting steps_per_epoch to {max_steps}", stacklevel=4)
        steps_per_epoch = max_steps
    return epochs, steps_per_epoch
