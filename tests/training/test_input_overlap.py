"""Which waits for input cost time: those in which the devices were idle."""

import time
from typing import Any

import jax
import numpy as np

from unisono._src.core import collect_fit_facts
from unisono._src.devices import InFlightCalls
from unisono._src.training._input_overlap import InputOverlap


@jax.jit
def compute(value: Any, number: Any) -> Any:
    return jax.lax.fori_loop(0, number, lambda _, matrix: jax.numpy.tanh(matrix @ matrix), value).sum()


def start_call(in_flight: InFlightCalls, number: int) -> None:
    """A compiled call of so many products, about 1 ms each, which is not waited for."""
    in_flight.add(compute(np.ones((256, 256), np.float32), number), 1, limit=8)


def wait(overlap: InputOverlap, seconds: float) -> tuple[float, float]:
    """A wait for input; how long it was, and how much of it was hidden."""
    with collect_fit_facts() as facts:
        overlap.begin_wait()
        time.sleep(seconds)
        overlap.end_wait(facts)
    return facts.input_wait_seconds, facts.hidden_input_seconds


def test_a_wait_is_hidden_as_long_as_steps_are_running() -> None:
    in_flight = InFlightCalls()
    overlap = InputOverlap(in_flight)
    waited, hidden = wait(overlap, 0.01)
    assert (waited >= 0.01, hidden) == (True, 0.0)
    overlap.note_start(1)  # on idle devices
    start_call(in_flight, 1_000)
    waited, hidden = wait(overlap, 0.001)
    assert hidden == waited
    assert overlap.drain() == 1
    assert overlap._step_seconds is not None
    assert overlap._step_seconds > waited
    waited, hidden = wait(overlap, 0.01)
    assert (waited >= 0.01, hidden) == (True, 0.0)


def test_of_a_wait_in_which_the_devices_became_idle_the_time_of_the_steps_is_hidden() -> None:
    in_flight = InFlightCalls()
    overlap = InputOverlap(in_flight)
    wait(overlap, 0.01)
    overlap._step_seconds = 0.002
    start_call(in_flight, 300)
    with collect_fit_facts() as facts:
        overlap.begin_wait()
        while in_flight.steps_running():
            time.sleep(0.01)
        overlap.end_wait(facts)
    assert facts.input_wait_seconds > 0.002
    assert facts.hidden_input_seconds == 0.002
