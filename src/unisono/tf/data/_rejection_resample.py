"""Resampling by rejection: elements are dropped at random so that their classes occur in given proportions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unisono import data
from unisono._src.data.plans import apply

_RANDOM_NUMBERS = 2.0**32  # `Dataset.random` draws below this


def resample(
    dataset: data.Dataset, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any, seed: int | None
) -> data.Dataset:
    """Pairs of class and element, of which a class is accepted in proportion to how rare it is.

    The state that `scan` carries is the number of elements of each class so far; with ``initial_dist`` it stays that.
    """
    target = np.asarray(target_dist, "float64")
    known = None if initial_dist is None else np.asarray(initial_dist, "float64")

    def decide(counts: Any, pair: Any) -> Any:
        element, number = pair
        label = np.asarray(apply(class_func, element))
        counts = np.asarray(counts)
        if known is None:
            counts = counts + (np.arange(target.size) == label)
        probability = _acceptance_probabilities(target, counts)[int(label)]
        return counts, (np.asarray(number) < probability * _RANDOM_NUMBERS, label, element)

    numbered = data.Dataset.zip((dataset, data.Dataset.random(seed)))
    decided = dataset._from_plan(numbered._plan).scan(np.zeros(target.size) if known is None else known, decide)
    return decided.filter(lambda accepted, label, element: accepted).map(lambda _, label, element: (label, element))


def _acceptance_probabilities(target: Any, counts: Any) -> Any:
    """For each class: 1 for the one that is rarest in comparison with its target, less for the others."""
    ratios = np.divide(target, counts, out=np.zeros(target.size), where=counts > 0)
    return ratios / max(ratios.max(), np.finfo("float64").tiny) * counts.astype(bool)
