"""A model that is examined rather than trained: bound to its strategy, built, its variables on the devices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from unisono._src import keras_hooks
from unisono._src.parameter_servers import ParameterServerStrategy
from unisono._src.planning._first_batch import FirstBatch, take_first_batch
from unisono._src.planning._step_compiler import StepCompiler
from unisono._src.training import MethodCall, StepVariables

NO_STRATEGY = """{function}: this model was created outside every scope. Create it in one; a single device will do:
    with unisono.MirroredStrategy().scope():
        model = ...
        model.compile(...)"""

ASYNCHRONOUS = """{function}: steps with parameter servers run one by one on different workers, so that no program has
all of a step. Make the model under MirroredStrategy."""


@dataclass(frozen=True, eq=False)
class ExaminedModel:
    """A built model in the scope of its strategy.

    Attributes:
        call: the model and its strategy.
        variables: what its training step reads and writes.
        batch: the first batch of the data.
        compiler: compiles the step.
    """

    call: MethodCall
    variables: StepVariables
    batch: FirstBatch
    compiler: StepCompiler


def bind_model(model: Any, function: str) -> MethodCall:
    """The model with its strategy. Raises if there is none. ``function``: what the user called, for errors."""
    owner = keras_hooks.get_owner(model)
    if owner is None:
        raise ValueError(NO_STRATEGY.format(function=function))
    if isinstance(owner, ParameterServerStrategy):
        raise ValueError(ASYNCHRONOUS.format(function=function))
    return MethodCall.of(model, function)


@contextlib.contextmanager
def examine_model(model: Any, data: Any, batch_size: int | None, function: str) -> Iterator[ExaminedModel]:
    """Builds the model for ``data``, as `fit` would. Values of variables that exist do not change."""
    call = bind_model(model, function)
    with call.enter_strategy():
        batch = take_first_batch(call, data, batch_size, function)
        call.build("train", batch.spec(batch.rows))
        variables = call.place_variables("train")
        yield ExaminedModel(call, variables, batch, StepCompiler(call, variables, function))
