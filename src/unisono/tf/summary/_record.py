"""Writes a summary immediately, or each time the compiled function that contains it runs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import keras
import numpy as np

from unisono._src import jax_hooks, keras_hooks
from unisono._src.data.files import encode_event, make_tensor_summary, message_class
from unisono._src.replicas import context
from unisono.tf._execution import name_scope
from unisono.tf.io._bytes import to_byte_string
from unisono.tf.summary import _defaults

NO_STEP = """The summary {tag!r} has no step. Pass step=..., or set one for all with
tf.summary.experimental.set_step(step) or writer.as_default(step=step)."""


def record(tag: str, values: Any, content: Callable[..., tuple[Any, Any]], step: Any) -> bool:
    """Writes a summary to the default writer. Returns whether there is one.

    Args:
        tag: the name; the names of the enclosing scopes are its prefix.
        values: the arrays of its data: NumPy arrays, or traced values.
        content: a function of these, as NumPy arrays, that returns the TensorProto and the SummaryMetadata or None.
        step: the step; None for the default one.
    """
    scope = keras_hooks.current_name_scope()
    name = f"{scope}/{tag}" if scope else tag

    def make_event(step: int, *values: Any) -> bytes:
        tensor, metadata = content(*values)
        return encode_event(make_tensor_summary(name, tensor, metadata), step, time.time())

    return record_event(tag, values, make_event, step)


def record_event(tag: str, values: Any, make_event: Callable[..., bytes], step: Any) -> bool:
    """Writes the event that a function of the step and the arrays serializes. Returns whether there is a writer."""
    default, condition = _defaults.current_default(), _defaults.current_condition()
    if default is None or condition is False:
        return False
    step = _defaults.get_step() if step is None else step
    if step is None:
        raise ValueError(NO_STEP.format(tag=tag))
    step = step.value if isinstance(step, keras.Variable) else step

    def write(step: Any, condition: Any, index: Any, values: Any) -> None:
        # A default from outside the function is looked up now, not when the function was traced.
        writer = default.writer if default.in_trace else _defaults.current_writer()
        if writer is not None and bool(condition) and int(index) == first:
            writer.write(make_event(int(step), *[np.asarray(value) for value in values]))

    replica = context.current_replica()
    first = 0 if replica is None or replica.axis is None else _first_index(replica.strategy.placement)
    if jax_hooks.is_evaluating():
        write(step, condition, first, values)
        return bool(condition)
    index = np.int32(0) if replica is None else replica.index
    jax.debug.callback(write, step, condition, index, values)
    return True


def write_raw_pb(tensor: Any, step: Any = None, name: str | None = None) -> bool:
    """Writes a Summary message, given as its bytes, to the default writer. Returns whether there is one."""
    raw = to_byte_string(tensor, "tf.summary.experimental.write_raw_pb")
    summary = message_class("Summary").FromString(raw)
    return record_event("write_raw_pb", [], lambda step: encode_event(summary, step, time.time()), step)


@contextlib.contextmanager
def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
    """A name scope for one summary: yields its tag, with the names of the enclosing scopes, and the scope."""
    outer = keras_hooks.current_name_scope()
    tag = f"{outer}/{name or default_name}" if outer else name or default_name
    with name_scope(name or default_name):
        yield tag, f"{tag}/"


def _first_index(placement: Any) -> int:
    """The first replica of this process: one replica of each process writes, since each process may have a writer."""
    process = jax.process_index()
    return next(index for index, device in enumerate(placement.devices) if device.process_index == process)
