"""choose_from_datasets and sample_from_datasets: elements of several plans, one at a time from one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from unisono._src.data.plans._identity import pass_number, renew_identity
from unisono._src.data.plans._inspection import Inspection
from unisono._src.data.plans._nest import Nest
from unisono._src.data.plans._operation import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Deferred,
    Elements,
    PassId,
    State,
)
from unisono._src.data.plans._passes import NumberedElements
from unisono._src.data.plans._permutation import random_words
from unisono._src.data.plans._plan import Plan
from unisono._src.data.plans._seeds import draw_seed
from unisono._src.data.plans._source import Source
from unisono._src.data.plans._spec import TensorSpec, merge_specs


@dataclass(frozen=True, eq=False)
class ChoiceSource(Source):
    """The next element of plan `i` for each number `i` that `choices` gives.

    When the chosen plan has ended, the pass ends with `stop_on_empty`; else the choice is skipped.
    """

    random_access = False

    plans: tuple[Plan, ...]
    choices: Plan
    stop_on_empty: bool = True

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (*self.plans, self.choices)

    def with_inputs(self, inputs: tuple[Plan, ...]) -> Self:
        return replace(self, plans=inputs[:-1], choices=inputs[-1])

    @property
    def cardinality(self) -> int:
        endless = [plan.cardinality == INFINITE_CARDINALITY for plan in self.plans]
        never_stops = all(endless) if self.stop_on_empty else any(endless)
        if self.choices.cardinality == INFINITE_CARDINALITY and never_stops:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY

    def elements(self, pass_id: PassId) -> Elements:
        branches = [plan.open(pass_id) for plan in self.plans]
        return _ChosenElements(branches, self.choices.open(pass_id), self, pass_number(pass_id))

    def element_spec(self, inspection: Inspection) -> Nest:
        return merge_specs([inspection.spec_of(plan) for plan in self.plans])

    def __str__(self) -> str:
        return f"choose_from_datasets([{', '.join(map(str, self.plans))}], {self.choices})"


@dataclass(frozen=True, eq=False)
class RandomChoices(Source):
    """Numbers of plans drawn at random, without end, by weight."""

    random_access = True

    weights: tuple[float, ...]
    seed: int | None = None
    reshuffle: bool = True

    def __post_init__(self) -> None:
        weights = tuple(float(weight) for weight in self.weights)
        if not weights or min(weights) < 0 or not 0 < sum(weights) < float("inf"):
            raise ValueError(
                f"sample_from_datasets: the weights are {list(weights)}. Expected one number for each dataset, none "
                f"below zero and at least one above."
            )
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "seed", draw_seed() if self.seed is None else int(self.seed))

    @property
    def cardinality(self) -> int:
        return INFINITE_CARDINALITY

    def elements(self, pass_id: PassId) -> Elements:
        bounds = np.cumsum(self.weights) / sum(self.weights)
        return NumberedElements(None, partial(partial, self._choice, bounds, pass_id if self.reshuffle else ()))

    def _choice(self, bounds: np.ndarray[tuple[int], np.dtype[np.float64]], pass_id: PassId, position: int) -> np.int64:
        assert self.seed is not None, "__post_init__ draws one"
        number = random_words(self.seed, 0, (*pass_id, position)).random_raw() / 2**64
        return np.int64(min(int(np.searchsorted(bounds, number, side="right")), len(bounds) - 1))

    def element_spec(self, inspection: Inspection) -> TensorSpec:
        return TensorSpec((), np.int64)

    def __str__(self) -> str:
        return f"weights {list(self.weights)}"


class _ChosenElements(Elements):
    def __init__(self, branches: list[Elements], choices: Elements, source: ChoiceSource, epoch: int) -> None:
        self._branches, self._choices, self._source, self._epoch = branches, choices, source, epoch
        self._ended: set[int] = set()
        self._given = 0

    def __next__(self) -> Deferred:
        while len(self._ended) < len(self._branches) and (choice := next(self._choices, None)) is not None:
            index = int(choice())
            if not 0 <= index < len(self._branches):
                raise ValueError(
                    f"{self._source}: the choice is {index}, but there are {len(self._branches)} datasets: "
                    f"expected 0 to {len(self._branches) - 1}."
                )
            if index in self._ended:
                continue
            element = next(self._branches[index], None)
            if element is not None:
                self._given += 1
                return renew_identity(element, self._epoch, self._given - 1)
            self._ended.update(range(len(self._branches)) if self._source.stop_on_empty else [index])
        raise StopIteration

    def get_state(self) -> State:
        branches = [branch.get_state() for branch in self._branches]
        choices = self._choices.get_state()
        return {"ended": sorted(self._ended), "given": self._given, "choices": choices, "inputs": branches}

    def set_state(self, state: State) -> None:
        self._ended, self._given = set(state["ended"]), state["given"]
        self._choices.set_state(state["choices"])
        for branch, inner in zip(self._branches, state["inputs"], strict=True):
            branch.set_state(inner)

    def close(self) -> None:
        for branch in (*self._branches, self._choices):
            branch.close()


def sample_plans(
    plans: Sequence[Plan], weights: Sequence[float] | None, seed: int | None, stop_on_empty: bool, reshuffle: bool
) -> Plan:
    """Each element from a plan drawn by weight; equal weights if there are none."""
    given = [1.0] * len(plans) if weights is None else [float(weight) for weight in np.asarray(weights)]
    if len(given) != len(plans):
        raise ValueError(f"sample_from_datasets: {len(plans)} datasets and {len(given)} weights. Give one each.")
    # A plan that is never drawn would never end, and the pass would wait for it.
    drawn = [(plan, weight) for plan, weight in zip(plans, given, strict=True) if weight != 0]
    if len(drawn) == 1:
        return drawn[0][0]
    choices = RandomChoices(tuple(weight for _, weight in drawn), seed, reshuffle)
    return Plan(ChoiceSource(tuple(plan for plan, _ in drawn), Plan(choices), stop_on_empty))
