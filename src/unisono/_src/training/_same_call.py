"""Notices workers that train with different batches, epochs or models, before the first step: it would be wrong."""

from __future__ import annotations

from typing import Any

import jax

from unisono._src.processes import all_gather_json, processes

DIFFERENT = """The workers call fit with different values:
{differences}
All workers run the same script with the same data and the same global batch, of which each takes its share. Make what
depends on the worker (its rank, its host, random numbers without a seed) the same everywhere."""


def check_same_call(model: Any, batch_spec: Any, steps: int | None, epochs: int) -> None:
    """Raises `ValueError`, on all processes, if they are about to train differently. All processes have to call it."""
    if processes().count == 1:
        return
    batch = [f"{leaf.dtype}{list(leaf.shape)}" for leaf in jax.tree.leaves(batch_spec)]
    weights = [f"{variable.dtype}{list(variable.shape)}" for variable in model.trainable_variables]
    here = {"global batch": ", ".join(batch), "steps per epoch": steps, "epochs": epochs, "weights": ", ".join(weights)}
    gathered = all_gather_json(here)
    names = processes().names
    differences = [
        f"    {fact}: {_shorten(gathered[0][fact])} in {names[0]}, {_shorten(other[fact])} in {names[index]}"
        for index, other in enumerate(gathered)
        for fact in here
        if other[fact] != gathered[0][fact]
    ]
    if differences:
        raise ValueError(DIFFERENT.format(differences="\n".join(differences[:8])))


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) < 80 else text[:77] + "..."
