"""`model.fit` with parameter servers: each step is a closure that whichever worker is free runs.

Workers read the weights that the servers have when a step begins. Metrics are variables like all others: workers add to
them, and after an epoch, when all its steps have ended, the chief reads their results.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import keras
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.dataset import Dataset
from unisono._src.parameter_servers import (
    ClusterCoordinator,
    ParameterServerStrategy,
    PerWorkerDataset,
    PerWorkerIterator,
    RemoteValue,
)
from unisono._src.processes import report_progress
from unisono._src.state.checkpoint import Checkpoint, CheckpointManager, SaveCounter
from unisono._src.state.store import remove
from unisono._src.strategy import DistributedDataset
from unisono._src.training._custom_steps import call_step
from unisono._src.training._evaluate import open_validation
from unisono._src.training._fit_arguments import FitArguments
from unisono._src.training._method_call import MethodCall
from unisono._src.training._resume import Resume, count_finished_fit, next_fit_folder
from unisono._src.training.records import RunRecorder, describe_fit, describe_run

NEEDS_STEPS = """fit: with parameter servers each worker reads the dataset by itself, so that there is no common end
of an epoch. Say how many steps, of all workers together, an epoch has: fit(..., steps_per_epoch=100)."""

NOT_SUPPORTED = """fit: with parameter servers the data is a dataset, a DatasetCreator or arrays, not {kind}. Make a
dataset: tf.data.Dataset.from_generator(...)."""

NO_CLASS_WEIGHT = """fit: with parameter servers class_weight works with arrays only. Let the dataset have weights:
    dataset.map(lambda x, y: (x, y, tf.gather(weights, y)))"""

_DEFAULT_BATCH: Final = 32


def fit_on_workers(
    call: MethodCall, strategy: ParameterServerStrategy, arguments: FitArguments, recorder: RunRecorder | None
) -> None:
    """Trains."""
    model, coordinator, epochs = call.model, ClusterCoordinator(strategy), arguments.epochs
    dataset, steps_per_epoch = _open_data(coordinator, arguments)
    with contextlib.ExitStack() as stack:
        validation = open_validation(call, arguments)
        if validation is not None:
            stack.callback(validation.close)
        iterator = iter(dataset)
        call.build("train", _peek_spec(iterator))
        keras_hooks.adopt_variables(
            [each for each in _state_variables(model) if not keras_hooks.is_global_seed_state(each)], strategy
        )
        callbacks = keras_hooks.make_callback_list(
            arguments.callbacks, model, history=True, verbose=arguments.verbose, epochs=epochs, steps=steps_per_epoch
        )
        backup = None if arguments.resume is None else _Backup(model, arguments.resume)
        stack.enter_context(keras_hooks.close_on_error(callbacks))
        model.stop_training = False
        callbacks.on_train_begin()
        first = keras_hooks.first_epoch(model, arguments.initial_epoch)
        if backup is not None:
            first = max(first, backup.restore())
        logs: dict[str, Any] = {}
        train_step = _step_of(model)
        if recorder is not None:
            fit = describe_fit(model, dataset, None, epochs=epochs, steps_per_epoch=steps_per_epoch, batch=None)
            step = first * steps_per_epoch
            recorder.begin(model, describe_run(strategy, call.placement), fit, first, step, resumed=first > 0)
        for epoch in range(first, epochs):
            if recorder is not None:
                recorder.begin_epoch(epoch, epoch * steps_per_epoch)
            model.reset_metrics()
            callbacks.on_epoch_begin(epoch)
            logs = _run_epoch(
                model,
                coordinator,
                train_step,
                iterator,
                steps_per_epoch,
                callbacks,
                steps_before=epoch * steps_per_epoch,
            )
            if validation is not None and keras_hooks.validates_after(model, epoch, arguments.validation_freq):
                with recorder.validation() if recorder else contextlib.nullcontext():
                    logs |= {f"val_{name}": value for name, value in validation.run(callbacks).items()}
            callbacks.on_epoch_end(epoch, logs)
            if backup is not None:
                backup.save(epoch + 1)
            if recorder is not None:
                recorder.end_epoch(epoch, (epoch + 1) * steps_per_epoch, logs)
            if model.stop_training:
                break
        if epochs > 0:
            keras_hooks.finish_optimizer(model)
        callbacks.on_train_end(logs=logs)
        if backup is not None:
            backup.finish()


def _open_data(coordinator: ClusterCoordinator, arguments: FitArguments) -> tuple[PerWorkerDataset, int]:
    """The dataset of each worker, and the number of steps of an epoch."""
    x, steps_per_epoch = arguments.x, arguments.steps_per_epoch
    if isinstance(x, PerWorkerDataset | Dataset | DistributedDataset):
        if arguments.class_weight is not None:
            raise ValueError(NO_CLASS_WEIGHT)
        if steps_per_epoch is None:
            raise ValueError(NEEDS_STEPS)
        return x if isinstance(x, PerWorkerDataset) else coordinator.create_per_worker_dataset(x), steps_per_epoch
    leaves = keras.tree.flatten(x)
    if not leaves or not all(hasattr(leaf, "shape") for leaf in leaves):
        raise TypeError(NOT_SUPPORTED.format(kind=type(x).__name__))
    sample_weight = arguments.sample_weight
    if arguments.class_weight is not None:
        sample_weight = keras_hooks.class_weights(arguments.y, arguments.class_weight)
    given = keras.tree.map_structure(np.asarray, keras.utils.pack_x_y_sample_weight(x, arguments.y, sample_weight))
    rows = Dataset.from_tensor_slices(given)
    number = int(leaves[0].shape[0])
    size = arguments.batch_size or _DEFAULT_BATCH
    dataset = (rows.shuffle(number) if arguments.shuffle else rows).batch(size).repeat()
    return coordinator.create_per_worker_dataset(dataset), steps_per_epoch or -(-number // size)


def _run_epoch(
    model: Any,
    coordinator: ClusterCoordinator,
    train_step: Callable[..., Any],
    iterator: PerWorkerIterator,
    steps: int,
    callbacks: Any,
    *,
    steps_before: int,
) -> dict[str, Any]:
    """Schedules the steps of an epoch. Batch hooks are called in order, as the results arrive.

    ``steps_before``: those of earlier epochs. The launcher counts all steps of the run.
    """
    waiting: list[RemoteValue] = []
    ended, last = 0, {}

    def report(until: int) -> None:
        nonlocal ended, last
        for remote in waiting[ended:until]:
            last = remote.fetch()
            callbacks.on_train_batch_end(ended, last)
            ended += 1
            report_progress("fit", steps_before + ended)

    ahead = 8 * len(coordinator.strategy.worker_addresses)
    for step in range(steps):
        if model.stop_training:
            break
        callbacks.on_train_batch_begin(step)
        waiting.append(coordinator.schedule(train_step, args=(iterator,)))
        report(len(waiting) - ahead)
    try:
        report(len(waiting))
    finally:
        coordinator.join()
    results = model.get_metrics_result()
    return keras_hooks.pythonify({**last, **{name: value for name, value in results.items() if name in last}})


def _step_of(model: Any) -> Callable[[PerWorkerIterator], Any]:
    def train_step(iterator: PerWorkerIterator) -> Any:
        return call_step(model, "train", next(iterator))

    return train_step


def _peek_spec(iterator: PerWorkerIterator) -> Any:
    element = iterator._take(0)
    iterator._put_back(0, [element])
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), element)


def _state_variables(model: Any) -> Sequence[Any]:
    return [variable for group in keras_hooks.step_state_variables(model, "train_step") for variable in group]


class _Backup:
    """Checkpoints after each epoch: weights, the optimizer, and how many epochs were trained.

    Steps of several workers end in no particular order, so there is no position within an epoch to resume from.
    """

    def __init__(self, model: Any, resume: Resume) -> None:
        self._resume = resume
        self._epochs = SaveCounter()
        checkpoint = Checkpoint(model=model, optimizer=model.optimizer, epochs=self._epochs)
        self._manager = CheckpointManager(checkpoint, str(next_fit_folder(resume)), max_to_keep=resume.keep)

    def restore(self) -> int:
        """Restores the last one, if there is one; returns the number of epochs that were trained."""
        return 0 if self._manager.restore_or_initialize() is None else int(self._epochs)

    def save(self, epochs: int) -> None:
        """Saves after that many epochs."""
        self._epochs.assign(epochs)
        self._manager.save(epochs)

    def finish(self) -> None:
        """Training has finished."""
        self._manager.close()
        if self._resume.delete_at_end:
            for path in self._manager.checkpoints:
                remove(path)
        count_finished_fit(self._resume)
