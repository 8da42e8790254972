"""One call of `fit`, `evaluate` or `predict`: the model, its strategy, and what holds for all of the call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from unisono._src import keras_hooks
from unisono._src.data.dataset import Dataset
from unisono._src.devices import Placement
from unisono._src.replicas import context
from unisono._src.strategy import distribute_dataset, reads_per_worker_data
from unisono._src.training._borrowed_variables import BorrowedVariables
from unisono._src.training._pace import Pace
from unisono._src.training._programs import pace_for
from unisono._src.training._step_variables import StepVariables
from unisono._src.training._steps import Kind


@dataclass(frozen=True, eq=False)
class ModelCall:
    """A model in the hands of its strategy."""

    model: Any
    strategy: context.HasPlacement
    lent: BorrowedVariables = field(default_factory=BorrowedVariables)

    @classmethod
    def of(cls, model: Any, method: str) -> ModelCall:
        """Checks that the model can be used now; raises before anything has happened."""
        strategy = keras_hooks.get_owner(model)
        assert strategy is not None, "only models of a strategy are routed here"
        if method != "predict":
            keras_hooks.check_compiled(model, method)
        keras_hooks.check_step_functions(model)
        return cls(model, strategy)

    @property
    def placement(self) -> Placement:
        return self.strategy.placement

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """The strategy's scope: variables that are made on the way belong to it. What it was lent is given back."""
        with context.enter_strategy(self.strategy):
            try:
                yield
            finally:
                self.lent.give_back()

    def adopt(self, variables: StepVariables) -> None:
        """Sees to it that all variables live on the strategy's devices."""
        keras_hooks.adopt_variables(
            [each for each in variables.all() if not keras_hooks.is_global_seed_state(each)], self.strategy
        )
        for variable in variables.all():
            if keras_hooks.is_global_seed_state(variable):
                self.lent.take(variable, self.placement)

    def shared(self, x: Any) -> Any:
        """The input, shared among workers if they are to read data of their own; else as it is."""
        if self.placement.spans_processes and isinstance(x, Dataset) and reads_per_worker_data(x):
            return distribute_dataset(self.placement, x, None)
        return x

    def pace(self, callbacks: Any, kind: Kind, batch_spec: Any) -> Pace:
        """`steps_per_execution` if it was set; one step for a user's batch hooks; else what the clock says."""
        if self.model.steps_per_execution > 1:
            return Pace(self.model.steps_per_execution)
        if keras_hooks.needs_every_batch(callbacks.callbacks, kind):
            return Pace(1)
        return pace_for(self.model, kind, batch_spec, self.placement)
