"""How much of the time that the loop waits for input is hidden behind steps that are still running.

The devices are asked whether they are done, before and after a wait; nothing waits for them. If they became idle in
between, nobody saw when. Then the steps are taken to last as long as the fastest ones that were seen: those that were
started on idle devices, and were found to be done. Before any were, such a wait counts as a wait.
"""

from __future__ import annotations

import time
from typing import Final

from unisono._src.core import FitFacts, measure
from unisono._src.devices import InFlightCalls

_WORTH_SECONDS: Final = 1e-4  # after a shorter wait, the devices are not asked before the next one: it costs 4 µs


class InputOverlap:
    """Divides waits for input. Used only while facts are collected."""

    def __init__(self, in_flight: InFlightCalls) -> None:
        self._in_flight = in_flight
        self._waits = False
        self._devices_are_idle = False
        self._timed: tuple[float, int] | None = None  # when steps were started on idle devices, and how many
        self._step_seconds: float | None = None
        self._began, self._running = 0.0, 0

    def begin_wait(self) -> None:
        """The loop asks for its next steps."""
        self._running = self._in_flight.steps_running() if self._waits else 0
        self._began = time.perf_counter()
        if self._waits and not self._running:
            self.note_done()

    def end_wait(self, facts: FitFacts) -> None:
        """The loop has got them."""
        waited = time.perf_counter() - self._began
        facts.add(input_wait_seconds=waited)
        self._waits = waited > _WORTH_SECONDS
        if not self._waits:
            self._devices_are_idle = False  # nobody asked
            return
        self._devices_are_idle = not self._in_flight.steps_running()
        if self._running:
            hidden = self._running * (self._step_seconds or 0.0) if self._devices_are_idle else waited
            facts.add(hidden_input_seconds=min(hidden, waited))

    def note_start(self, steps: int) -> None:
        """So many steps are about to be started."""
        self._timed = (time.perf_counter(), steps) if self._devices_are_idle else None

    def note_done(self) -> None:
        """All steps that were started are done."""
        if self._timed is not None:
            began, steps = self._timed
            seconds = (time.perf_counter() - began) / steps
            self._step_seconds = min(seconds, self._step_seconds or seconds)
            self._timed = None

    def drain(self) -> int:
        """Waits for all steps; returns how many it waited for."""
        with measure("compute_seconds"):
            steps = self._in_flight.drain()
        self.note_done()
        return steps
