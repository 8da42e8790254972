"""Writing a summary: at once, or when the compiled function runs that it stands in."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import keras
import numpy as np

from unisono._src import jax_hooks, keras_hooks
from unisono._src.data.files import encode_event, make_tensor_summary
from unisono._src.replicas import context
from unisono.tf.summary import _defaults

NO_STEP = """The summary {tag!r} has no step. Pass step=..., or set one for all with
tf.summary.experimental.set_step(step) or writer.as_default(step=step)."""


def record(tag: str, values: Any, content: Callable[..., tuple[Any, Any]], step: Any) -> bool:
    """Writes a summary to the default writer. Returns whether there is one.

    Args:
        tag: its name; the names of the scopes around go before it.
        values: arrays of which it is made: of NumPy, or values of a compiled function.
        content: makes of them, as NumPy arrays, the TensorProto and the SummaryMetadata, or None.
        step: where it stands; None for the default one.
    """
    scope = keras_hooks.current_name_scope()
    name = f"{scope}/{tag}" if scope else tag

    def event(step: int, *values: Any) -> bytes:
        tensor, metadata = content(*values)
        return encode_event(make_tensor_summary(name, tensor, metadata), step, time.time())

    return record_event(tag, values, event, step)


def record_event(tag: str, values: Any, event: Callable[..., bytes], step: Any) -> bool:
    """The same with a function that makes the serialized event, of the step and the arrays."""
    default, condition = _defaults.current(), _defaults.condition()
    if default is None or condition is False:
        return False
    step = _defaults.get_step() if step is None else step
    if step is None:
        raise ValueError(NO_STEP.format(tag=tag))
    step = step.value if isinstance(step, keras.Variable) else step

    def write(step: Any, condition: Any, index: Any, values: Any) -> None:
        # A writer of outside is the one in force now, not when the function was traced.
        writer = default.writer if default.in_trace else _defaults.current_writer()
        if writer is not None and bool(condition) and int(index) == first:
            writer.write(event(int(step), *[np.asarray(value) for value in values]))

    replica = context.current_replica()
    first = 0 if replica is None or replica.axis is None else _first_index(replica.strategy.placement)
    if jax_hooks.is_evaluating():
        write(step, condition, first, values)
        return bool(condition)
    index = np.int32(0) if replica is None else replica.index
    jax.debug.callback(write, step, condition, index, values)
    return True


def _first_index(placement: Any) -> int:
    """The first replica of this process: one of each writes, as every process may have a writer."""
    mine = jax.process_index()
    return next(index for index, device in enumerate(placement.devices) if device.process_index == mine)
