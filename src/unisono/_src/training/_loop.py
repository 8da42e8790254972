"""The loop: windows in, compiled calls out, callbacks at the boundaries of calls. The same for fit and evaluate.

```
for each call:
    window  = the next K steps of the epoch
    state   = the arrays of the model's variables
    state, logs = program(state, window)         # returns before it has run
    variables = state
    callbacks(last step of the call, logs)       # in Keras's threads unless a callback wants to be waited for
```
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import jax

from unisono._src.data.feed import StepChunk
from unisono._src.devices import LaunchQueue, Placement
from unisono._src.keras_hooks import BatchHooks, StepGrid, StepMark
from unisono._src.processes import report_progress
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._pace import Pace
from unisono._src.training._programs import program_for
from unisono._src.training._step_variables import StepVariables
from unisono._src.training._steps import Kind

# A loop keeps the device busy for long; single steps are short, so more of them have to wait in line.
_LOOPS_IN_FLIGHT: Final = 2
_STEPS_IN_FLIGHT: Final = 8


class Loop:
    """Runs windows for one model and one kind of step.

    Args:
        model: the model.
        kind: which step.
        placement: its devices.
        variables: what the step reads and writes.
        pace: how many steps per call.
        grids: where a call has to end.
        done: steps that were run before, by an earlier run that goes on here.
    """

    def __init__(
        self,
        model: Any,
        kind: Kind,
        placement: Placement,
        variables: StepVariables,
        pace: Pace,
        grids: Sequence[StepGrid | StepMark] = (),
        done: int = 0,
    ):
        self._model, self._kind, self._placement = model, kind, placement
        self._variables, self._pace, self._grids = variables, pace, grids
        self._launches = LaunchQueue()
        self._steps = done
        self._phase = {"train": "fit", "test": "evaluate", "predict": "predict"}[kind]
        self._clock: float | None = None

    def epoch(
        self,
        cursor: EpochCursor,
        *,
        watch: Any = None,
        another_follows: bool = False,
        within: bool = False,
        hooks: BatchHooks,
        stopped: Callable[[], bool],
        after_call: Callable[[Any, Any], None] = lambda logs, watch: None,
    ) -> tuple[Any, Any]:
        """Runs one epoch (or one evaluation); returns the logs of its last step and the watch.

        ``within``: the epoch was begun by an earlier run. ``after_call`` gets the logs and the watch after every call.
        """
        cursor.begin_epoch(another_follows=another_follows, within=within)
        self._clock = None
        logs: Any = None
        while not stopped():
            first = cursor.position
            window = cursor.window(self.most())
            if window is None:
                break
            hooks.begin(first)
            logs, watch = self.run(window, watch)
            hooks.end(cursor.position - 1, logs)
            after_call(logs, watch)
        self._launches.drain()
        return logs, watch

    @property
    def steps(self) -> int:
        """Steps that were started, those of earlier runs included."""
        return self._steps

    def drain(self) -> None:
        """Waits until all of them have ended."""
        self._launches.drain()

    def run(self, window: StepChunk, watch: Any = None) -> tuple[Any, Any]:
        """Runs one window. Returns the result of its last step, which may still be on its way."""
        (result, last_watch, _) = deque(self._calls(window, watch), maxlen=1).pop()
        return result, last_watch

    def run_stacked(self, window: StepChunk) -> Iterator[tuple[Any, int]]:
        """Runs one window of "predict"; gives the stacked outputs of each call and how many steps they are of."""
        for outputs, _, count in self._calls(window, None):
            yield outputs, count

    def _calls(self, window: StepChunk, watch: Any) -> Iterator[tuple[Any, Any, int]]:
        state = self._variables.read()
        carry = (state, watch) if self._kind == "train" else state
        program = program_for(self._model, self._kind, self._placement, self._variables, carry, window)
        done = 0
        if not self._pace.settled:
            self._clock = time.perf_counter()
        while done < window.count:
            count = min(program.most, window.count - done)
            carry, result = program(carry, window.operands, window.start + done, count)
            state, watch = carry if self._kind == "train" else (carry, None)
            self._variables.write(state)
            limit = _LOOPS_IN_FLIGHT if program.form == "loop" else _STEPS_IN_FLIGHT
            self._record(self._launches.add(result, count, limit))
            report_progress(self._phase, self._steps + done + count)
            yield result, watch, count
            done += count
        self._steps += done
        if not self._pace.settled:
            self._record(self._launches.drain())

    def most(self) -> int:
        """Steps for the next call."""
        return min([self._pace.steps, *(grid.steps_left(self._steps) for grid in self._grids)])

    def _record(self, ended: int) -> None:
        """Tells the pace how long the launches that have just ended took: since the ones before them ended."""
        if ended:
            now = time.perf_counter()
            if self._clock is not None:
                self._pace.record(ended, now - self._clock)
            self._clock = now


def fetch(logs: Any) -> Any:
    """Logs as NumPy values."""
    return jax.device_get(logs)
