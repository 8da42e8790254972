"""Handlers of `fit`, `evaluate` and `predict` for models that Keras's own loop trains.

When a step could not be traced, the variables keep their values. And which weights a model trains is what `compile`
saw, as in Keras 2 and as Keras 3 documents it: scripts for GANs compile the discriminator, set
`discriminator.trainable = False`, compile both together, and then train them alternating. Keras 3 looks at `trainable`
when a step runs, and the discriminator would never learn. So while a model trains, its layers are as trainable as they
were when it was compiled; afterwards they are as they were before.

Checked against Keras 3.15.1: `JAXTrainer._purge_model_variables` takes the arrays out of the variables before a step,
and `jax_state_sync` puts those of the last step back; a failure of the first one leaves them without. Arrays that
were donated to a step that failed while it ran are gone. `compile` notes `_compiled_trainable_state`, a dict from
layers to flags with a layer before those in it; setting `trainable` sets it in all layers inside.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from keras.src.backend.jax.trainer import JAXTrainer
from keras.src.trainers.trainer import Trainer

from unisono._src import hooks
from unisono._src.keras_hooks._trainer import run_inside

_ATTRIBUTE: Final = "_unisono_purged_values"


def install_value_restoration() -> None:
    """Installs the handler by which variables keep their values when a step fails."""
    why = "a model keeps its values when a step could not be traced"
    hooks.wrap(
        JAXTrainer,
        "_purge_model_variables",
        _note_values,
        expects="(self, trainable_variables=False, non_trainable_variables=False, optimizer_variables=False, "
        "metrics_variables=False)",
        why=why,
    )
    run_inside(("fit", "evaluate", "predict"), _restoring)


def install_compiled_trainable_flags() -> None:
    """Installs the handler by which `compile` decides what is trained."""
    why = "a model trains the weights that were trainable when it was compiled"
    hooks.require(Trainer, "_compiled_trainable_state", expects="instance attribute", why=why)
    run_inside(("fit", "train_on_batch"), _with_compiled_flags)


def _note_values(original: Any) -> Any:
    def purge(self: Any, *args: Any, **kwargs: Any) -> None:
        optimizer = getattr(self, "optimizer", None)
        variables = [*self.variables, *self.metrics_variables, *([] if optimizer is None else optimizer.variables)]
        object.__setattr__(self, _ATTRIBUTE, [(each, each._value) for each in variables])
        original(self, *args, **kwargs)

    return purge


@contextlib.contextmanager
def _restoring(model: Any) -> Iterator[None]:
    try:
        yield
    except BaseException:
        for variable, value in getattr(model, _ATTRIBUTE, ()):
            if variable._value is None and value is not None and not value.is_deleted():
                variable._value = value
        raise
    finally:
        object.__setattr__(model, _ATTRIBUTE, ())


@contextlib.contextmanager
def _with_compiled_flags(model: Any) -> Iterator[None]:
    compiled = getattr(model, "_compiled_trainable_state", None) or {}
    before = {layer: layer.trainable for layer in compiled}
    if before == compiled:
        yield
        return
    _set_trainable(compiled)
    try:
        yield
    finally:
        _set_trainable(before)


def _set_trainable(flags: dict[Any, bool]) -> None:
    for layer, flag in flags.items():
        if layer.trainable != flag:
            layer.trainable = flag
