"""What happens to a batch inside the program before the model sees it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from unisono.data._trace import vectorised


@dataclass(frozen=True)
class Transform:
    """The maps of a dataset and `class_weight`. Compared by value: equal ones share a compiled program."""

    element_maps: tuple[Callable[..., Any], ...] = ()
    batch_maps: tuple[Callable[..., Any], ...] = ()
    class_weight: tuple[tuple[int, float], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.element_maps or self.batch_maps or self.class_weight)

    def __call__(self, batch: Any) -> Any:
        batch = vectorised(self.element_maps, self.batch_maps)(batch)
        return _weighted(batch, self.class_weight) if self.class_weight else batch


def _weighted(batch: Any, weights: tuple[tuple[int, float], ...]) -> Any:
    """Adds sample weights to (x, y) by the class in y: integers, or one-hot rows."""
    if not isinstance(batch, tuple) or len(batch) != 2:
        found = "(x, y, sample_weight) already" if isinstance(batch, tuple) and len(batch) == 3 else "no targets"
        raise ValueError(
            f"class_weight needs a dataset of (x, y) pairs; this one has {found}. "
            "Leave class_weight out, or change the dataset."
        )
    x, y = batch
    label = y
    if y.ndim > 1:
        label = jnp.argmax(y, axis=-1) if y.shape[-1] != 1 else jnp.squeeze(y, axis=-1)
    label = jnp.round(label).astype("int32")
    weight = jnp.ones(label.shape, "float32")
    for value, factor in weights:
        weight = jnp.where(label == value, factor, weight)
    return x, y, weight
