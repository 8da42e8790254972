"""`model.fit` under a strategy: opens the data, builds the model, and trains from where an earlier run has stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from unisono._src import keras_hooks
from unisono._src.core import active_fit_facts, measure
from unisono._src.devices import report_loaded_programs
from unisono._src.parameter_servers import ParameterServerStrategy
from unisono._src.processes import processes
from unisono._src.state.store import LoadedCheckpoint
from unisono._src.training._custom_steps import has_tf_style_step
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._evaluate import Evaluation, open_validation
from unisono._src.training._feeds import open_model_feed
from unisono._src.training._fit_arguments import FitArguments
from unisono._src.training._fit_epochs import FitEpochs
from unisono._src.training._fit_on_workers import fit_on_workers
from unisono._src.training._label_range import check_label_range
from unisono._src.training._method_call import MethodCall
from unisono._src.training._run_checkpointer import RunCheckpointer, checkpointing
from unisono._src.training._same_call import check_same_call
from unisono._src.training._training_state import TrainingState, saved_position
from unisono._src.training.records import RunRecorder, recording


def fit(model: Any, *, resume: Any = None, **keras_arguments: Any) -> Any:
    """Trains; the other arguments and the result are Keras's.

    ``resume`` is the folder of a run, True for the one of `unisono run`, or a :class:`Resume`.
    """
    call = MethodCall.of(model, "fit")
    arguments = FitArguments.of(resume, **keras_arguments)
    with call.enter_strategy(), recording(arguments.run) as recorder:
        if isinstance(call.strategy, ParameterServerStrategy):
            fit_on_workers(call, call.strategy, arguments, recorder)
        else:
            _fit_in_lockstep(call, arguments, recorder)
    return model.history


def _fit_in_lockstep(call: MethodCall, arguments: FitArguments, recorder: RunRecorder | None) -> None:
    with (
        checkpointing(arguments.resume) as checkpointer,
        _open_data(call, arguments, checkpointer.saved if checkpointer else None) as (cursor, validation),
    ):
        _build(call, arguments, cursor, validation, resumable=checkpointer is not None)
        callbacks = keras_hooks.make_callback_list(
            arguments.callbacks,
            call.model,
            history=True,
            verbose=arguments.verbose,
            epochs=arguments.epochs,
            steps=cursor.steps_per_epoch,
        )
        variables = call.place_variables("train")
        training = TrainingState(call.model, call.placement, variables, cursor, validation, callbacks)
        _train(call, arguments, training, checkpointer, recorder)
        cursor.close()
        cursor.feed.release()  # not after an exception: a program may still be reading


@contextlib.contextmanager
def _open_data(
    call: MethodCall, arguments: FitArguments, saved: LoadedCheckpoint | None
) -> Iterator[tuple[EpochCursor, Evaluation | None]]:
    """The batches to train with, and those to validate with, from the positions of an earlier run."""
    position = saved_position(saved, "input")
    with contextlib.ExitStack() as stack:
        with measure("open_input_seconds"):
            feed = open_model_feed(
                call,
                arguments.x,
                arguments.y,
                trains=True,
                sample_weight=arguments.sample_weight,
                batch_size=arguments.batch_size,
                steps=arguments.steps_per_epoch,
                shuffle=arguments.shuffle,
                class_weight=arguments.class_weight,
                position=position and position["feed"],
            )
            cursor = EpochCursor(feed, arguments.steps_per_epoch, "steps_per_epoch", position)
            stack.callback(cursor.close)
            facts = active_fit_facts()
            if facts is not None:
                facts.data_is_resident = feed.resident_bytes > 0
                facts.add(resident_bytes=feed.resident_bytes)
            validation = open_validation(call, arguments, saved_position(saved, "validation"))
            if validation is not None:
                stack.callback(validation.close)
        yield cursor, validation


def _build(
    call: MethodCall, arguments: FitArguments, cursor: EpochCursor, validation: Evaluation | None, *, resumable: bool
) -> None:
    """Makes all variables, and raises if the data does not fit the model."""
    call.build("train", cursor.batch_spec, resumable=resumable)
    if arguments.sample_weight is None:  # else rows with such labels may have the weight 0
        check_label_range(call.model, arguments.y)
    if call.placement.spans_processes and not call.reads_own_data(arguments.x):
        check_same_call(call.model, cursor.batch_spec, cursor.steps_per_epoch, arguments.epochs)
    call.pad_sequences("train", cursor.feed)
    if validation is not None and has_tf_style_step(call.model, "test"):  # variables of validation are saved too
        call.build("test", validation.feed.batch_spec, resumable=resumable)


def _train(
    call: MethodCall,
    arguments: FitArguments,
    training: TrainingState,
    checkpointer: RunCheckpointer | None,
    recorder: RunRecorder | None,
) -> None:
    saved = checkpointer.saved if checkpointer else None
    with contextlib.ExitStack() as stack:
        if arguments.verbose and processes().is_chief:
            if saved:
                print(_describe_resume(saved, arguments.epochs))
            stack.enter_context(report_loaded_programs(print))
        if checkpointer and saved and _is_finished(saved, arguments.epochs):
            training.restore(saved)
            training.cursor.skip_pass_opened_ahead()
            checkpointer.delete_if_asked()
            return
        with keras_hooks.close_on_error(training.callbacks):
            FitEpochs(call, arguments, training, checkpointer, recorder).run()


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
