"""Hook: which weights a model trains is what `compile` saw, as in Keras 2 and as Keras 3 documents it.

Scripts for GANs compile the discriminator, set `discriminator.trainable = False`, compile both together, and then train
them in turns. Keras 3 looks at `trainable` when a step runs, and the discriminator would never learn. So while a model
trains, its layers are as trainable as they were when it was compiled; afterwards they are as they were before.

Checked against Keras 3.15.1: `compile` notes `_compiled_trainable_state`, a dict from layers to flags with a layer
before those in it, and nobody reads it; setting `trainable` sets it in all layers inside.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from keras.src.backend.jax.trainer import JAXTrainer


def use_compiled_trainable_flags() -> None:
    """Installs the hook."""
    for name in ("fit", "train_on_batch"):
        setattr(JAXTrainer, name, _as_compiled(getattr(JAXTrainer, name)))


def _as_compiled(original: Any) -> Any:
    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _trainable(getattr(self, "_compiled_trainable_state", None) or {}):
            return original(self, *args, **kwargs)

    return method


@contextlib.contextmanager
def _trainable(wanted: dict[Any, bool]) -> Iterator[None]:
    before = {layer: layer.trainable for layer in wanted}
    if before == wanted:
        yield
        return
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(flags: dict[Any, bool]) -> None:
    for layer, flag in flags.items():
        if layer.trainable != flag:
            layer.trainable = flag
