"""`trace_on`, `trace_export` and `trace_off`: JAX's profiler, for TensorBoard's profile page."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

import jax

from unisono.tf._paths import to_local_path

ALREADY_ACTIVE = (
    "tf.summary.trace_on: a trace is already active. Call tf.summary.trace_export or tf.summary.trace_off first."
)
NOT_ACTIVE = (
    "tf.summary.trace_export: no trace is active. Call tf.summary.trace_on(profiler=True, profiler_outdir=...) first."
)
NO_FOLDER = (
    "tf.summary.trace_export: the profile has no folder. Pass profiler_outdir=... to it or to tf.summary.trace_on."
)


class _ActiveTrace:
    """The active trace.

    Attributes:
        profiler: whether the profiler runs.
        temporary: the folder of the profile, if its destination is given only at the end.
    """

    def __init__(self, profiler: bool, folder: str | None) -> None:
        self.profiler = profiler
        self.temporary: str | None = None
        if profiler:
            if folder is None:
                folder = self.temporary = tempfile.mkdtemp(prefix="unisono-trace-")
            jax.profiler.start_trace(folder)


_trace: _ActiveTrace | None = None


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Starts a trace. With ``profiler``, JAX's profiler records what runs. There are no graphs to record."""
    global _trace
    if _trace is not None:
        raise RuntimeError(ALREADY_ACTIVE)
    folder = None if profiler_outdir is None else to_local_path(profiler_outdir, "tf.summary.trace_on")
    _trace = _ActiveTrace(profiler, folder)


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Stops the trace and writes the profile, if there is one, to ``profiler_outdir``."""
    if _trace is None:
        raise RuntimeError(NOT_ACTIVE)
    if _trace.temporary is not None and profiler_outdir is None:
        raise ValueError(NO_FOLDER)
    folder = None if profiler_outdir is None else to_local_path(profiler_outdir, "tf.summary.trace_export")
    _stop(folder)


def trace_off() -> None:
    """Stops the trace and drops it, unless it was started with a folder."""
    if _trace is not None:
        _stop(None)


def _stop(folder: str | None) -> None:
    global _trace
    assert _trace is not None
    stopped, _trace = _trace, None
    if stopped.profiler:
        jax.profiler.stop_trace()
    if stopped.temporary is not None:
        if folder is not None:
            shutil.copytree(stopped.temporary, os.path.abspath(folder), dirs_exist_ok=True)
        shutil.rmtree(stopped.temporary)
