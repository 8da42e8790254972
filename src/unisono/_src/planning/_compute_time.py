"""How long a device computes a step: measured here on one device, or on as many CPU devices as there are cores."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import jax

from unisono._src.devices import Placement
from unisono._src.planning._interpolation import interpolate_rows
from unisono._src.planning._model_call import ExaminedModel
from unisono._src.planning._timed_step import prepare_step, time_steps

# Devices that compute at once while their speed is measured. Each has a program of its own.
_MAX_AT_ONCE: Final = 8


@dataclass(frozen=True, eq=False)
class _OneThread(Placement):
    """A CPU device among as many as there are cores: its operations are not shared among threads, as in training."""

    @property
    def compiler_options(self) -> dict[str, bool | str]:
        return {"xla_cpu_multi_thread_eigen": False}


@dataclass(eq=False)
class ComputeTimer:
    """Measures steps of a model on single devices, where nothing is exchanged. The model's own state is not touched.

    CPU devices of one machine share its cores. As many of them as there are cores compute at once while they are
    measured; with more devices than cores, each core has several of them to compute.

    Attributes:
        cores: that CPU devices share; None if each device has cores of its own, as GPUs and machines have.
        seconds: what was measured, by devices at once and rows of each.
        whole_steps: what steps with their exchange took, by devices and rows of each, where that was measured too.
    """

    examined: ExaminedModel
    cores: int | None
    seconds: dict[int, dict[int, float]] = field(default_factory=dict)
    whole_steps: dict[tuple[int, int], float] = field(default_factory=dict)

    def predict(self, num_devices: int, rows: int) -> float:
        """Seconds of a step on ``num_devices`` devices with so many rows each, from what was measured."""
        at_once, share = self._load(num_devices)
        seconds = share * interpolate_rows(self.seconds[at_once], rows)
        return min(seconds, self.whole_steps.get((num_devices, rows), seconds))

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
        measurable = min(at_once, len(jax.devices("cpu")), _MAX_AT_ONCE)
        return measurable, num_devices / at_once

    def _measure(self, at_once: int, rows: int) -> float:
        placement = self.examined.call.placement
        devices = placement.devices if placement.platform != "cpu" else jax.devices("cpu")
        state = placement.fetch(self.examined.variables.read())
        alone = self.cores is None or at_once < self.cores
        kind = Placement if alone or placement.platform != "cpu" else _OneThread
        alone_on = [kind(Placement.over([device]).mesh) for device in devices[:at_once]]
        return time_steps([prepare_step(self.examined, each, state, rows) for each in alone_on])
