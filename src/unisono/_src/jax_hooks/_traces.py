"""Which of JAX's traces operations belong to.

Checked against JAX 0.10.2, 0.11.2 and 0.12.0.1: `jax.core.Trace` has `process_primitive`, `process_custom_jvp_call`,
`process_custom_vjp_call`, `process_shard_map` and `stage_value`, which the traces of tapes and of placeholders define;
a primitive is bound in the current trace, which `jax.extend.core.set_current_trace` replaces.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax
from jax._src import core
from jax.core import Trace
from jax.extend.core import set_current_trace, take_current_trace

from unisono._src import hooks


def check_traces() -> None:
    """Checks that JAX has what is used of its traces."""
    hooks.require(core, "EvalTrace", expects="type type", why="tells whether operations are carried out or traced")
    hooks.require(core, "eval_trace", expects="type EvalTrace", why="an array is copied where no tape sees it")
    why = "tapes and placeholders are traces of their own"
    hooks.require(Trace, "process_primitive", expects="(self, primitive, tracers, params, /)", why=why)
    hooks.require(Trace, "stage_value", expects="(self, val)", why=why)


def current_trace() -> Any:
    """What processes operations now: JAX's evaluation, or the trace of a function that is being transformed."""
    with take_current_trace() as trace:
        return trace


@contextlib.contextmanager
def use_trace(trace: Any) -> Iterator[None]:
    """Operations in this block belong to ``trace``."""
    with set_current_trace(trace):
        yield


def copy_unrecorded(value: Any) -> Any:
    """A copy of ``value`` that no tape records: made in its own trace, so that it is known in all those inside it."""
    trace = value._trace if isinstance(value, core.Tracer) else core.eval_trace
    with set_current_trace(trace):
        return jax.numpy.array(value, copy=True)
