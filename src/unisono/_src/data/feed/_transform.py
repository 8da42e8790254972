"""What happens to a batch inside the program before the model sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from unisono._src.data.dataset._trace import Identity, Traced, vectorise
from unisono._src.data.plans import IndexedPlan


@dataclass(frozen=True)
class Transform:
    """The maps of a dataset and `class_weight`. Compared by value: equal ones share a compiled program."""

    element_maps: tuple[TransformMap, ...] = ()
    batch_maps: tuple[TransformMap, ...] = ()
    class_weight: tuple[tuple[int, float], ...] = ()

    @staticmethod
    def of(plan: IndexedPlan, traces: Sequence[Traced], class_weight: tuple[tuple[int, float], ...]) -> Transform:
        """The maps of a plan, all of which have been traced."""
        maps = [
            TransformMap(each.function, each.seed if trace.draws else None, each.origin)
            for each, trace in zip((*plan.element_maps, *plan.batch_maps), traces, strict=True)
        ]
        split = len(plan.element_maps)
        return Transform(tuple(maps[:split]), tuple(maps[split:]), class_weight)

    @property
    def draws(self) -> bool:
        """Whether a map draws random numbers, so that it needs the identities of rows."""
        return any(each.seed is not None for each in (*self.element_maps, *self.batch_maps))

    def __bool__(self) -> bool:
        return bool(self.element_maps or self.batch_maps or self.class_weight)

    def __call__(self, batch: Any, identity: Identity = None) -> Any:
        batch = vectorise(self.element_maps, self.batch_maps)(batch, identity)
        return _add_sample_weight(batch, self.class_weight) if self.class_weight else batch


@dataclass(frozen=True)
class TransformMap:
    """A map function. One that draws nothing has no seed: datasets that differ in it alone share a program."""

    function: Callable[..., Any]
    seed: int | None
    origin: int


def _add_sample_weight(batch: Any, weights: tuple[tuple[int, float], ...]) -> Any:
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
    if jnp.issubdtype(label.dtype, jnp.floating):  # JAX does not round booleans
        label = jnp.round(label)
    label = label.astype("int32")
    weight = jnp.ones(label.shape, "float32")
    for value, factor in weights:
        weight = jnp.where(label == value, factor, weight)
    return x, y, weight
