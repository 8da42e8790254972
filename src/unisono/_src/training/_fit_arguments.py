"""What `fit` was called with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import keras

from unisono._src import keras_hooks
from unisono._src.core import warn_user
from unisono._src.data.plans import as_model_batch
from unisono._src.training._resume import Resume, parse_resume
from unisono._src.training.callbacks import replace_stock_callbacks


@dataclass(frozen=True, kw_only=True, eq=False)
class FitArguments:
    """The arguments of Keras's `fit`, with its names.

    Attributes:
        batch_size: of the global batch.
        callbacks: stock ones are replaced.
        validation_data: also what `validation_split` has split off.
        resume: where to save; of the argument, or of a `BackupAndRestore`.
        run: the same, if it names the folder of a run. That of a `BackupAndRestore` is none.
    """

    x: Any
    y: Any
    sample_weight: Any
    class_weight: dict[int, float] | None
    batch_size: int | None
    shuffle: bool | Literal["batch"]
    epochs: int
    initial_epoch: int
    steps_per_epoch: int | None
    validation_data: Any
    validation_batch_size: int | None
    validation_steps: int | None
    validation_freq: Any
    verbose: Any
    callbacks: Any
    resume: Resume | None
    run: Resume | None

    @classmethod
    def of(
        cls,
        resume: Any,
        *,
        x: Any,
        y: Any,
        sample_weight: Any,
        epochs: int,
        steps_per_epoch: int | None,
        validation_split: float,
        validation_data: Any,
        callbacks: Any,
        **others: Any,
    ) -> FitArguments:
        """What `fit` was given, after Keras's limits for a quick look."""
        epochs, steps_per_epoch = _apply_keras_limits(epochs, steps_per_epoch)
        if validation_split and validation_data is None:
            x, y, sample_weight = as_model_batch((x, y, sample_weight))
            (x, y, sample_weight), validation_data = keras_hooks.split_for_validation(
                x, y, sample_weight, validation_split
            )
        callbacks = replace_stock_callbacks(callbacks)
        parsed = parse_resume(resume, callbacks)
        return cls(
            x=x,
            y=y,
            sample_weight=sample_weight,
            epochs=epochs,
            steps_per_epoch=steps_per_epoch,
            validation_data=validation_data,
            callbacks=callbacks,
            resume=parsed,
            run=parsed if resume else None,
            **others,
        )


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
