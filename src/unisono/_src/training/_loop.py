"""The loop that runs chunks of steps, the same for `fit`, `evaluate` and `predict`:

```text
for each chunk of the epoch:                     # run_epoch
    callbacks(first step of the chunk)
    for each call that the chunk needs:          # run_chunk; a loop program needs one
        state = the arrays of the model's variables
        state, logs = program(state, chunk)      # returns before it has run
        variables = state
    callbacks(last step of the chunk, logs)      # in Keras's threads unless a callback wants to be waited for
```
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import jax

from unisono._src.core import active_fit_facts, measure
from unisono._src.data.feed import StepChunk
from unisono._src.devices import InFlightCalls, Placement
from unisono._src.keras_hooks import AtStep, BatchHooks, EveryNSteps
from unisono._src.processes import report_progress
from unisono._src.training._epoch_cursor import EpochCursor
from unisono._src.training._input_overlap import InputOverlap
from unisono._src.training._programs import program_for
from unisono._src.training._step_variables import StepVariables
from unisono._src.training._steps import Kind
from unisono._src.training._steps_per_call import StepsPerCall

# A loop keeps the device busy for long; single steps are short, so more of them have to be queued.
_LOOPS_IN_FLIGHT: Final = 2
_STEPS_IN_FLIGHT: Final = 8


class CallResult(NamedTuple):
    """What one compiled call returned; the arrays may not be computed yet.

    Attributes:
        result: the logs of its last step; for "predict" the outputs of all its steps, stacked.
        nan_guard: for "train", see `_steps.py`; else None.
        num_steps: how many steps it ran.
    """

    result: Any
    nan_guard: Any
    num_steps: int


class Loop:
    """Runs chunks of steps for one model and one kind of step.

    Args:
        model: the model.
        kind: which step.
        placement: its devices.
        variables: what the step reads and writes.
        steps_per_call: how many steps to run per call.
        call_ends_at: the steps at which a call has to end.
        steps_done: steps that an earlier run did, which this one resumes.
    """

    def __init__(
        self,
        model: Any,
        kind: Kind,
        placement: Placement,
        variables: StepVariables,
        steps_per_call: StepsPerCall,
        call_ends_at: Sequence[EveryNSteps | AtStep] = (),
        steps_done: int = 0,
    ):
        self._model, self._kind, self._placement = model, kind, placement
        self._variables, self._steps_per_call, self._call_ends_at = variables, steps_per_call, call_ends_at
        self._in_flight = InFlightCalls()
        self._steps = steps_done
        self._phase = {"train": "fit", "test": "evaluate", "predict": "predict"}[kind]
        self._last_end: float | None = None
        self._overlap = InputOverlap(self._in_flight)

    @property
    def steps(self) -> int:
        """Steps that were started, those of earlier runs included."""
        return self._steps

    def run_epoch(
        self,
        cursor: EpochCursor,
        *,
        nan_guard: Any = None,
        another_follows: bool = False,
        mid_epoch: bool = False,
        hooks: BatchHooks,
        is_stopped: Callable[[], bool],
        after_call: Callable[[Any, Any], None] = lambda logs, nan_guard: None,
    ) -> tuple[Any, Any]:
        """Runs one epoch, or one evaluation; returns the logs of its last step and the nan guard.

        ``mid_epoch``: an earlier run began the epoch. ``after_call`` gets the logs and the nan guard after every chunk.
        """
        cursor.begin_epoch(another_follows=another_follows, mid_epoch=mid_epoch)
        self._last_end = None
        logs: Any = None
        while not is_stopped():
            first = cursor.steps_in_epoch
            chunk = self.next_chunk(cursor)
            if chunk is None:
                break
            with measure("callback_seconds"):
                hooks.begin(first)
            *_, (logs, nan_guard, _) = self.run_chunk(chunk, nan_guard)
            if hooks.waits_for_logs and active_fit_facts() is not None:
                with measure("compute_seconds"):  # the hook would wait; this way the time is not taken for its own
                    _wait_for_first(logs)
            with measure("callback_seconds"):
                hooks.end(cursor.steps_in_epoch - 1, logs)
            after_call(logs, nan_guard)
        self._overlap.drain()
        return logs, nan_guard

    def next_chunk(self, cursor: EpochCursor) -> StepChunk | None:
        """The steps of the next call; None at the end of the epoch."""
        max_steps = min([self._steps_per_call.steps, *(each.steps_left(self._steps) for each in self._call_ends_at)])
        facts = active_fit_facts()
        if facts is None:
            return cursor.next_chunk(max_steps)
        self._overlap.begin_wait()
        try:
            return cursor.next_chunk(max_steps)
        finally:
            self._overlap.end_wait(facts)

    def run_chunk(self, chunk: StepChunk, nan_guard: Any = None) -> Iterator[CallResult]:
        """Runs one chunk, in as many calls as its program needs. The caller has to consume all results."""
        state = self._variables.read()
        carry = (state, nan_guard) if self._kind == "train" else state
        program = program_for(self._model, self._kind, self._placement, self._variables, carry, chunk)
        facts = active_fit_facts() if self._kind == "train" else None
        done = 0
        self._overlap.note_start(chunk.count)
        if not self._steps_per_call.settled:
            self._last_end = time.perf_counter()
        while done < chunk.count:
            count = min(program.max_steps, chunk.count - done)
            with measure("compute_seconds"):
                carry, result = program(carry, chunk.operands, chunk.start + done, count)
                state, nan_guard = carry if self._kind == "train" else (carry, None)
                self._variables.write(state)
                limit = _LOOPS_IN_FLIGHT if program.form == "loop" else _STEPS_IN_FLIGHT
                self._record_time(self._in_flight.add(result, count, limit))
            report_progress(self._phase, self._steps + done + count)
            if facts is not None:
                facts.add_call(program.form, count)
            yield CallResult(result, nan_guard, count)
            done += count
        self._steps += done
        if not self._steps_per_call.settled:
            self._record_time(self._overlap.drain())

    def _record_time(self, steps_ended: int) -> None:
        """Reports how long the calls that have just ended took: since those before them ended."""
        if steps_ended:
            now = time.perf_counter()
            if self._last_end is not None:
                self._steps_per_call.record(steps_ended, now - self._last_end)
            self._last_end = now


def _wait_for_first(logs: Any) -> None:
    """Waits for one of the logs; all of them are computed then."""
    leaves = jax.tree.leaves(logs)
    if leaves and isinstance(leaves[0], jax.Array):
        leaves[0].block_until_ready()


def fetch(logs: Any) -> Any:
    """Logs as NumPy values."""
    return jax.device_get(logs)
