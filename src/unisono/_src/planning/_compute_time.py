"""How long a device computes a step: measured here on one device, or on as many CPU devices as there are cores."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import jax
import numpy as np

from unisono._src import keras_hooks
from unisono._src.data.feed import StackReader, StepChunk, batches_per_stack
from unisono._src.devices import Placement
from unisono._src.planning._interpolation import interpolate_rows
from unisono._src.planning._model_call import ExaminedModel
from unisono._src.replicas import context
from unisono._src.strategy import OneDeviceStrategy
from unisono._src.training import Program, build_program

_SECONDS_PER_ROUND: Final = 0.2
_ROUNDS: Final = 7
# Devices that compute at once while their speed is measured. Each has a program of its own.
_MOST_AT_ONCE: Final = 8


@dataclass(frozen=True, eq=False)
class _OneThread(Placement):
    """A CPU device among as many as there are cores: its operations are not shared among threads, as in training."""

    @property
    def compiler_options(self) -> dict[str, bool | str]:
        return {"xla_cpu_multi_thread_eigen": False}


@dataclass
class _Running:
    """A program on one device, with its state and its batches."""

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


@dataclass(eq=False)
class ComputeTimer:
    """Measures steps of a model on single devices, where nothing is exchanged. The model's own state is not touched.

    CPU devices of one machine share its cores. As many of them as there are cores compute at once while they are
    measured; with more devices than cores, each core has several of them to compute.

    Attributes:
        cores: that CPU devices share; None if each device has cores of its own, as GPUs and machines have.
        seconds: what was measured, by devices at once and rows of each.
    """

    examined: ExaminedModel
    cores: int | None
    seconds: dict[int, dict[int, float]] = field(default_factory=dict)

    def predict(self, num_devices: int, rows: int) -> float:
        """Seconds of a step on ``num_devices`` devices with so many rows each, from what was measured."""
        at_once, share = self._load(num_devices)
        return share * interpolate_rows(self.seconds[at_once], rows)

    def measure(self, num_devices: int, rows: int) -> None:
        """Measures what :meth:`predict` needs for this number of devices and rows."""
        at_once, _ = self._load(num_devices)
        measured = self.seconds.setdefault(at_once, {})
        if rows not in measured:
            measured[rows] = self._measure(at_once, rows)

    def _load(self, num_devices: int) -> tuple[int, float]:
        """How many devices compute at once, and how many steps each of their cores has to do."""
        if self.cores is None:
            return 1, 1.0
        at_once = min(num_devices, self.cores)
        measurable = min(at_once, len(jax.devices("cpu")), _MOST_AT_ONCE)
        return measurable, num_devices / at_once

    def _measure(self, at_once: int, rows: int) -> float:
        placement = self.examined.call.placement
        devices = placement.devices if placement.platform != "cpu" else jax.devices("cpu")
        state = placement.fetch(self.examined.variables.read())
        alone = self.cores is None or at_once < self.cores
        running = [self._prepare(device, rows, state, alone=alone) for device in devices[:at_once]]
        steps = 1
        jax.block_until_ready([each.start(1) for each in running])  # the first call of a program takes longer
        while (seconds := _time_round(running, steps)) < _SECONDS_PER_ROUND / 2:
            steps *= max(2, min(8, int(_SECONDS_PER_ROUND / seconds)))
        # The fastest round: other programs on the machine make some of them slower, and none faster.
        return min(_time_round(running, steps) for _ in range(_ROUNDS)) / steps

    def _prepare(self, device: Any, rows: int, state: Any, *, alone: bool) -> _Running:
        examined = self.examined
        mesh = Placement.over([device]).mesh
        placement = Placement(mesh) if alone or device.platform != "cpu" else _OneThread(mesh)
        carry = (jax.tree.map(placement.place_variable, state), placement.place_replicated(np.int32(0)))
        spec = examined.batch.spec(rows)
        capacity = batches_per_stack(spec)
        batch = examined.batch.repeated(rows)
        stack = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (capacity, *leaf.shape)), batch)
        operands = (placement.place_rows(stack, row_dim=1), None)
        chunk = StepChunk(operands, StackReader(), 0, capacity, capacity, is_regular=True)
        with _owned_by(OneDeviceStrategy(device), examined):
            program = build_program(examined.call.model, "train", placement, examined.variables, carry, chunk)
        return _Running(program, carry, chunk)


def _time_round(running: list[_Running], steps: int) -> float:
    began = time.perf_counter()
    jax.block_until_ready([each.start(steps) for each in running])
    return time.perf_counter() - began


@contextlib.contextmanager
def _owned_by(strategy: Any, examined: ExaminedModel) -> Iterator[None]:
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
