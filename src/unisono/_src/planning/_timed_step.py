"""A training step that is run over and over on some devices, to see how long it takes. The model is not trained."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

from unisono._src import keras_hooks
from unisono._src.data.feed import StackReader, StepChunk, batches_per_stack
from unisono._src.devices import Placement
from unisono._src.planning._model_call import ExaminedModel
from unisono._src.replicas import context
from unisono._src.strategy import Strategy
from unisono._src.training import Program, build_program

_SECONDS_PER_ROUND: Final = 0.2
_ROUNDS: Final = 7


@dataclass
class TimedStep:
    """A program with a state and batches of its own."""

    program: Program
    carry: Any
    chunk: StepChunk

    def start(self, steps: int) -> Any:
        """Begins so many steps; returns what to wait for."""
        done, result = 0, None
        while done < steps:
            count = min(self.program.max_steps, steps - done)
            self.carry, result = self.program(self.carry, self.chunk.operands, 0, count)
            done += count
        return result


def prepare_step(examined: ExaminedModel, placement: Placement, state: Any, rows: int) -> TimedStep:
    """The step of the model on the devices of ``placement``, with ``rows`` rows in all, from ``state`` on the host."""
    here = jax.tree.map(lambda variable: _layout_like(variable, placement), examined.variables.read())
    carry = (jax.tree.map(placement.place_variable, state, here), placement.place_replicated(np.int32(0)))
    capacity = batches_per_stack(examined.batch.spec(rows))
    batch = examined.batch.repeated(rows)
    stack = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (capacity, *leaf.shape)), batch)
    operands = (placement.place_rows(stack, row_dim=1), None)
    chunk = StepChunk(operands, StackReader(), 0, capacity, capacity, is_regular=True)
    with _owned_by(Strategy(placement), examined):
        program = build_program(examined.call.model, "train", placement, examined.variables, carry, chunk)
    return TimedStep(program, carry, chunk)


def time_steps(running: list[TimedStep]) -> float:
    """Seconds of a step while all of these run at once."""
    steps = 1
    jax.block_until_ready([each.start(1) for each in running])  # the first call of a program takes longer
    while (seconds := _time_round(running, steps)) < _SECONDS_PER_ROUND / 2:
        steps *= max(2, min(8, int(_SECONDS_PER_ROUND / seconds)))
    # The fastest round: other programs on the machine make some of them slower, and none faster.
    return min(_time_round(running, steps) for _ in range(_ROUNDS)) / steps


def _layout_like(variable: Any, placement: Placement) -> NamedSharding:
    """The layout of a variable of the strategy's devices, on other devices."""
    spec = variable.sharding.spec if placement.shards_variables else PartitionSpec()
    return NamedSharding(placement.mesh, spec)


def _time_round(running: list[TimedStep], steps: int) -> float:
    began = time.perf_counter()
    jax.block_until_ready([each.start(steps) for each in running])
    return time.perf_counter() - began


@contextlib.contextmanager
def _owned_by(strategy: Strategy, examined: ExaminedModel) -> Iterator[None]:
    """In this block, steps of the model are traced as if it had been made for this strategy."""
    things = [examined.call.model, *examined.variables.all()]
    owners = [keras_hooks.get_owner(thing) for thing in things]
    for thing, owner in zip(things, owners, strict=True):
        if owner is not None:
            keras_hooks.set_owner(thing, strategy)
    try:
        with context.outside_of_strategies(), context.enter_strategy(strategy):
            yield
    finally:
        for thing, owner in zip(things, owners, strict=True):
            if owner is not None:
                keras_hooks.set_owner(thing, owner)
