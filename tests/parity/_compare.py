"""Says where two solutions of one problem differ, tensor by tensor. NumPy only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._cells import FLOOR, MODELS, Problem

ZERO = 1e-6  # a gradient declared zero is below this share of the largest gradient


@dataclass(frozen=True)
class Solution:
    """What `_runner.py` left of one problem."""

    arrays: dict[str, np.ndarray]
    facts: dict[str, Any]

    def under(self, phase: str) -> dict[str, np.ndarray]:
        return {k.removeprefix(f"{phase}/"): a for k, a in self.arrays.items() if k.startswith(f"{phase}/")}

    def gradients(self) -> dict[str, np.ndarray]:
        """The first step's, of SGD with rate 1: the old weight minus the new one."""
        before, after = self.under("initial/trainable"), self.under("step/trainable")
        return {k: before[k].astype("float64") - after[k] for k in before}


def step_differences(problem: Problem, oracle: Solution, candidate: Solution) -> list[str]:
    """One step from the same state: weights, optimizer, logs, and the gradients where SGD shows them."""
    found = list(_phase("step", problem, problem.step_tolerance, oracle, candidate))
    if problem.optimizer == "sgd":
        ours, theirs = oracle.gradients(), candidate.gradients()
        weights = oracle.under("initial/trainable")
        spacing = {k: float(np.spacing(np.abs(a).max(initial=0.0))) for k, a in weights.items()}
        scale = _largest(ours.values())
        for key in _compared(problem, ours):
            allowed = problem.step_tolerance * _largest([ours[key]]) + FLOOR * scale + spacing[key]
            found += _difference(f"gradient/{key}", ours[key], theirs[key], allowed)
    return found


def run_differences(problem: Problem, oracle: Solution, candidate: Solution) -> list[str]:
    """The whole run: weights, optimizer, history, evaluate, predict."""
    return list(_phase("run", problem, problem.run_tolerance, oracle, candidate))


def initial_differences(oracle: Solution, candidate: Solution) -> list[str]:
    """Both sides start from the same bits."""
    ours, theirs = oracle.under("initial"), candidate.under("initial")
    found = _shape_differences(ours, theirs)
    return found or [k for k in ours if not np.array_equal(ours[k], theirs[k])]


def not_zero(problem: Problem, oracle: Solution) -> list[str]:
    """Declarations of a zero gradient that the oracle contradicts."""
    momentum = {k: a for k, a in oracle.under("step/optimizer").items() if k.endswith("_momentum")}
    gradients = oracle.gradients() if problem.optimizer == "sgd" else momentum
    limit = ZERO * _largest(gradients.values())
    declared = MODELS[problem.model].zero_gradient
    return [k for k in gradients if _names(k, declared) and _largest([gradients[k]]) > limit]


def _phase(phase: str, problem: Problem, tolerance: float, oracle: Solution, candidate: Solution) -> Iterator[str]:
    ours, theirs = oracle.under(phase), candidate.under(phase)
    if found := _shape_differences(ours, theirs):
        yield from found
        return
    kinds: dict[str, float] = {}
    for key, array in ours.items():
        kinds[_kind(key)] = max(kinds.get(_kind(key), 0.0), _largest([array]))
    for key in _compared(problem, ours):
        allowed = tolerance * _largest([ours[key]]) + FLOOR * kinds[_kind(key)]
        if key.endswith("_velocity"):
            allowed *= 2  # the square of a gradient, with twice its relative error
        if ours[key].dtype.kind in "biu":
            allowed = 0.0  # seeds and step counts
        if problem.policy != "float32" and key.endswith("accuracy"):
            allowed += 1 / problem.rows.rows  # of a row with two scores that are equal in 8 bits
        yield from _difference(f"{phase}/{key}", ours[key], theirs[key], allowed)


def _difference(name: str, ours: np.ndarray, theirs: np.ndarray, allowed: float) -> list[str]:
    apart = np.abs(theirs.astype("float64") - ours.astype("float64"))
    worst = float(apart.max(initial=0.0))
    if worst <= allowed:  # false for NaN
        return []
    index = tuple(int(i) for i in np.unravel_index(np.argmax(apart), apart.shape))
    return [
        f"{name}{list(index)}: {theirs[index]!r} instead of {ours[index]!r}; "
        f"apart by {worst:.3g}, allowed {allowed:.3g}, largest value {_largest([ours]):.3g}"
    ]


def _shape_differences(ours: dict[str, np.ndarray], theirs: dict[str, np.ndarray]) -> list[str]:
    found = [f"{k}: missing" for k in ours if k not in theirs] + [f"{k}: extra" for k in theirs if k not in ours]
    return found or [
        f"{k}: {theirs[k].dtype}{theirs[k].shape} instead of {ours[k].dtype}{ours[k].shape}"
        for k in ours
        if (ours[k].shape, ours[k].dtype) != (theirs[k].shape, theirs[k].dtype)
    ]


def _kind(key: str) -> str:
    """Values that can be compared in size: all weights, all slots of one name; else each for itself."""
    first = key.split("/")[0]
    if first == "trainable":
        return first
    if first == "optimizer" and "_" in key.rpartition("/")[2]:
        return f"optimizer/{key.rpartition('_')[2]}"
    return key


def _compared(problem: Problem, keys: Iterable[str]) -> list[str]:
    model = MODELS[problem.model]
    return [k for k in keys if not _names(k, model.zero_gradient) and not _names(k, model.follows)]


def _names(key: str, suffixes: Iterable[str]) -> bool:
    """Whether the key is of a parameter with such a path, or of its slot in the optimizer."""
    return any(key.endswith(f"/{suffix}") or f"_{suffix.replace('/', '_')}_" in key for suffix in suffixes)


def _largest(arrays: Iterable[np.ndarray]) -> float:
    return max((float(np.abs(a).max(initial=0.0)) for a in arrays), default=0.0)
