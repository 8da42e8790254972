"""One call of `fit`, `evaluate` or `predict`: the model, its strategy, and what holds for all of the call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import jax

from unisono._src import keras_hooks
from unisono._src.data.dataset import Dataset
from unisono._src.data.feed import Feed
from unisono._src.devices import Placement
from unisono._src.parameter_servers import ParameterServerStrategy, PerWorkerDataset
from unisono._src.replicas import context
from unisono._src.strategy import DistributedDataset, distribute_dataset, reads_per_worker_data
from unisono._src.training._borrowed_variables import BorrowedVariables
from unisono._src.training._custom_steps import has_tf_style_step, trace_used_variables
from unisono._src.training._programs import steps_per_call_for
from unisono._src.training._step_variables import StepVariables, step_variables
from unisono._src.training._steps import Kind
from unisono._src.training._steps_per_call import StepsPerCall


@dataclass(frozen=True, eq=False)
class MethodCall:
    """A model, bound to its strategy for one call."""

    model: Any
    strategy: context.HasPlacement
    _borrowed: BorrowedVariables = field(default_factory=BorrowedVariables)

    @classmethod
    def of(cls, model: Any, method: str) -> MethodCall:
        """Checks that the model can be used now; raises before anything has happened."""
        strategy = keras_hooks.get_owner(model)
        assert strategy is not None, "only models of a strategy are routed here"
        if method != "predict":
            keras_hooks.check_compiled(model, method)
        keras_hooks.check_step_functions(model)
        if isinstance(strategy, ParameterServerStrategy) and strategy.coordinator is not None:
            strategy.coordinator.join()  # what runs in this process reads all variables and writes some
        return cls(model, strategy)

    @property
    def placement(self) -> Placement:
        return self.strategy.placement

    @contextlib.contextmanager
    def enter_strategy(self) -> Iterator[None]:
        """The strategy's scope: variables created inside belong to it. Borrowed variables are given back at the end."""
        with context.enter_strategy(self.strategy):
            try:
                yield
            finally:
                self._borrowed.give_back()

    def build(self, kind: Kind, batch_spec: Any, *, resumable: bool = False) -> None:
        """Makes all variables that steps of this kind need on batches of this shape, before the first of them.

        Keras builds for its own steps; a custom step is traced once. ``resumable``: they are to be checkpointed.
        """
        for leaf in jax.tree.leaves(batch_spec):
            if leaf.dtype.kind in "OSUT":
                why = f"a batch has an array of text, of shape {leaf.shape}"
                raise TypeError(keras_hooks.TEXT_ON_HOST.format(why=why))
        if has_tf_style_step(self.model, kind):
            trace_used_variables(self.model, kind, batch_spec, resumable=resumable)
        elif kind == "predict":
            keras_hooks.build_for_prediction(self.model, keras_hooks.unpack(batch_spec)[0])
        else:
            keras_hooks.build_for_training(self.model, batch_spec)

    def pad_sequences(self, kind: Kind, feed: Feed) -> None:
        """Makes the feed pad batches of many lengths if the model, which is built, gives the same results then."""
        x = keras_hooks.unpack(feed.batch_spec)[0]
        feed.use_sequence_padding(keras_hooks.find_exact_padding(self.model, trains=kind == "train", x=x))

    def place_variables(self, kind: Kind) -> StepVariables:
        """The variables that steps of this kind use, all on the strategy's devices."""
        variables = step_variables(self.model, kind)
        every = variables.all()
        keras_hooks.adopt_variables(
            [each for each in every if not keras_hooks.is_global_seed_state(each)], self.strategy
        )
        for variable in every:
            if keras_hooks.is_global_seed_state(variable):
                self._borrowed.borrow(variable, self.placement)
        return variables

    def distribute(self, x: Any) -> Any:
        """The input, distributed if each worker is to read data of its own; else as it is."""
        if isinstance(x, PerWorkerDataset):  # of a DatasetCreator: with parameter servers the chief evaluates
            return x._of_worker(0)
        if self.placement.spans_processes and isinstance(x, Dataset) and reads_per_worker_data(x):
            return distribute_dataset(self.placement, x, None)
        return x

    def reads_own_data(self, x: Any) -> bool:
        """Whether each worker reads data of its own, and so may have other batches than the others."""
        return isinstance(x, DistributedDataset) or (isinstance(x, Dataset) and reads_per_worker_data(x))

    def steps_per_call(self, callbacks: Any, kind: Kind, batch_spec: Any) -> StepsPerCall:
        """`steps_per_execution` if it was set; one step for a user's batch hooks; else what the clock says."""
        if self.model.steps_per_execution > 1:
            return StepsPerCall(self.model.steps_per_execution)
        if keras_hooks.needs_every_batch(callbacks.callbacks, kind):
            return StepsPerCall(1)
        return steps_per_call_for(self.model, kind, batch_spec, self.placement)
