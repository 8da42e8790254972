"""Data that arrives batch by batch: generators, PyDatasets, torch and grain loaders, plans that cannot be indexed."""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable
from typing import Any, Final

import jax
import numpy as np

from unisono._src.core import measure
from unisono._src.data.feed._batches import TOO_SHORT, HostBatches
from unisono._src.data.feed._feed import DataPass, Feed, StepChunk
from unisono._src.data.feed._readers import StackReader, batches_per_stack
from unisono._src.data.feed._sequence_padding import SequencePadder
from unisono._src.data.feed._spec_json import spec_from_json, spec_to_json
from unisono._src.data.plans import State
from unisono._src.devices import Placement, sequence_padding
from unisono._src.keras_hooks import ExactPadding
from unisono._src.processes import all_gather_host, processes

DIFFERENT_INPUT = """The workers have different input: {found}, or batches of different shapes.
Every worker has to give the same global batches, of which each trains on its part. For input that differs from worker
to worker, use strategy.distribute_datasets_from_function."""

# A stack is sent when it is full, or when a slow source has delayed the devices this long.
_PATIENCE_SECONDS: Final = 0.05


class StreamFeed(Feed):
    """A feed over an iterator of host batches.

    Args:
        batches: begins a pass; at a position that an earlier pass gave, if one is passed.
        num_batches: batches in a pass, if that is known.
        is_restartable: whether ``batches`` can be called again.
        is_endless: whether it is known that a pass never ends.
        transform: runs on each batch inside the program.
        placement: the devices.
        origin: what the data is; part of the positions of its passes.
        position: where the first pass begins; None at its beginning.
        resume_caveat: why a pass that is opened at a position may give other batches than before; None if it cannot.
        differs_by_process: whether each process has its own positions.
    """

    def __init__(
        self,
        batches: Callable[[State], HostBatches],
        *,
        num_batches: int | None,
        is_restartable: bool,
        is_endless: bool,
        transform: Callable[..., Any] | None,
        placement: Placement,
        origin: State = None,
        position: State = None,
        resume_caveat: str | None = None,
        differs_by_process: bool = False,
    ):
        self._batches = batches
        self._num_batches = num_batches
        self._is_restartable = is_restartable
        self._is_endless = is_endless
        self._transform = transform
        self._placement = placement
        self._shapes: SequencePadder | None = None
        self._saved_lengths = None if position is None else position.get("lengths")
        # The first batch says what all of them look like, so the first pass begins now.
        self._origin, self._resume_caveat, self._differs_by_process = origin, resume_caveat, differs_by_process
        self._first_pass: _StreamPass | None = self._new_pass(position)
        spec = self._first_pass.regular_spec
        if spec is None:
            self._first_pass.close()
            raise ValueError("The input has no batches: it ended before the first one. Pass data that has some.")
        self._spec = spec

    @property
    def num_batches(self) -> int | None:
        return self._num_batches

    @property
    def is_endless(self) -> bool:
        return self._is_endless

    @property
    def batch_spec(self) -> Any:
        return jax.eval_shape(self._transform, self._spec) if self._transform else self._spec

    @property
    def is_restartable(self) -> bool:
        return self._is_restartable

    @property
    def can_open_ahead(self) -> bool:
        return False  # the user's code would be called too early

    @property
    def resume_caveat(self) -> str | None:
        return self._resume_caveat

    @property
    def differs_by_process(self) -> bool:
        return self._differs_by_process

    @property
    def resident_bytes(self) -> int:
        return 0

    def use_sequence_padding(self, padding: ExactPadding | str) -> None:
        if self._shapes is None:
            self._shapes = SequencePadder(padding, sequence_padding(), self._saved_lengths)

    def open(self) -> DataPass:
        first, self._first_pass = self._first_pass, None
        return first or self._new_pass()

    def close(self) -> None:
        first, self._first_pass = self._first_pass, None
        if first is not None:
            first.close()

    def release(self) -> None:
        self.close()

    def _new_pass(self, position: State = None) -> _StreamPass:
        reader = StackReader(self._transform)
        return _StreamPass(self._batches, position, self._origin, reader, self._placement, lambda: self._shapes)


class _StreamPass(DataPass):
    def __init__(
        self,
        batches: Callable[[State], HostBatches],
        position: State,
        origin: State,
        reader: StackReader,
        placement: Placement,
        shapes: Callable[[], SequencePadder | None],
    ):
        self._shapes = (
            shapes  # the model decides on the padding, after the first batch was read and the model was built
        )
        self._batches = batches(None if position is None else position["base"])
        self._origin, self._reader, self._placement = origin, reader, placement
        self._regular_spec = None if position is None else spec_from_json(position["regular_spec"])
        for number in range(0 if position is None else position["skip"]):
            if next(self._batches, None) is None:
                raise ValueError(TOO_SHORT.format(given=number, number=position["skip"]))
        # A position is the state before the current stack, and the number of batches to skip after it.
        self._base, self._num_after_base = self._batches.get_state(), 0
        self._ahead: Any = None
        self._ahead_is_padded = False
        self._stack: Any = None
        self._used = self._held = self._capacity = 0
        self._is_regular = False

    @property
    def regular_spec(self) -> Any:
        """Shapes and dtypes of a regular batch, taken from the first one; None if there is no batch."""
        if self._regular_spec is None and self.peek() is not None:
            self._regular_spec = jax.tree.map(_spec_of, self._ahead)
        return self._regular_spec

    def peek(self) -> Any:
        """The next batch without consuming it; None at the end."""
        if self._ahead is None:
            self._ahead = next(self._batches, None)
        return self._ahead

    def _peek_padded(self) -> Any:
        """The next batch, padded, without consuming it; None at the end."""
        shapes = self._shapes()
        if self.peek() is not None and shapes is not None and not self._ahead_is_padded:
            self._ahead, self._ahead_is_padded = shapes.pad(self._ahead), True
        return self._ahead

    def next_chunk(self, max_steps: int, ahead: int | None) -> StepChunk | None:
        if self._used == self._held and not self._fill(ahead):
            return None
        start, count = self._used, min(max_steps, self._held - self._used)
        self._used += count
        return StepChunk((self._stack, None), self._reader, start, count, self._capacity, self._is_regular)

    def position(self) -> State:
        skip = self._num_after_base + self._used
        position = {"origin": self._origin, "base": self._base, "skip": skip}
        position["regular_spec"] = spec_to_json(self.regular_spec)
        shapes = self._shapes()
        return position | ({} if shapes is None else {"lengths": shapes.get_state()})

    def close(self) -> None:
        self._stack = self._ahead = None
        self._batches.close()

    def _fill(self, ahead: int | None) -> bool:
        """Stacks the next batches of equal shape, at most ``ahead``."""
        self._num_after_base += self._held
        self._used = self._held = 0
        if self._ahead is None:
            self._base, self._num_after_base = self._batches.get_state(), 0
        first = self._peek_padded()
        if first is None:
            if self._placement.spans_processes:
                _check_same_input(0, None)
            return False
        spec = jax.tree.map(_spec_of, first)
        if (shapes := self._shapes()) is not None:
            shapes.record(spec)
        self._is_regular = jax.tree.leaves(spec) == jax.tree.leaves(self.regular_spec)
        self._capacity = batches_per_stack(spec) if self._is_regular else 1
        stack = jax.tree.map(lambda leaf: np.empty((self._capacity, *leaf.shape), leaf.dtype), spec)
        # Several processes have to send equally many, so none of them uses a deadline.
        spans_processes = self._placement.spans_processes
        held, deadline = 0, math.inf if spans_processes else time.monotonic() + _PATIENCE_SECONDS
        max_steps = self._capacity if ahead is None else min(ahead, self._capacity)
        while held < max_steps and (held == 0 or time.monotonic() < deadline):
            batch = self._peek_padded()
            if batch is None or jax.tree.map(_spec_of, batch) != spec:
                break
            for line, leaf in zip(jax.tree.leaves(stack), jax.tree.leaves(batch), strict=True):
                line[held] = leaf
            held, self._ahead, self._ahead_is_padded = held + 1, None, False
        if spans_processes:
            _check_same_input(held, spec)
        with measure("copy_seconds"):
            self._stack = self._placement.place_rows(stack, row_dim=1)
        self._held = held
        return True


def _check_same_input(held: int, spec: Any) -> None:
    """Raises on all processes if their numbers or shapes of batches differ."""
    seen = zlib.crc32(repr(jax.tree.map(lambda leaf: (leaf.shape, str(leaf.dtype)), spec)).encode())
    gathered = all_gather_host(np.array([held, seen], np.int64))
    if (gathered != gathered[0]).any():
        names = processes().names
        found = ", ".join(f"{name} has {line[0]} batches" for name, line in zip(names, gathered, strict=True))
        raise ValueError(DIFFERENT_INPUT.format(found=found))


def _spec_of(leaf: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(leaf.shape, jax.dtypes.canonicalize_dtype(leaf.dtype))
