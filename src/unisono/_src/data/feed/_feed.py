"""The contract between input and training.

A *feed* can be read in several passes. A *pass* gives *chunks of steps*: arrays that are already on the devices,
and which of the steps in them to run next. Training asks for a limited number of steps at a time and does not know
whether the rows were gathered on the device, on the host, or by a user's generator.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any

from unisono._src.data.feed._readers import Reader
from unisono._src.data.plans import State
from unisono._src.keras_hooks import ExactPadding


@dataclass(frozen=True, eq=False)
class StepChunk:
    """Steps ``start`` to ``start + count`` of what ``operands`` hold.

    Attributes:
        operands: arrays on the devices; the same object for many chunks.
        reader: reads the batch of one step from ``operands``, inside a compiled program.
        capacity: the number of steps that ``operands`` hold in all.
        is_regular: whether its batches have the shape that most batches have. A loop is compiled for those; a
            last batch of another size runs alone.
    """

    operands: Any
    reader: Reader
    start: int
    count: int
    capacity: int
    is_regular: bool


class DataPass(abc.ABC):
    """One pass over the data."""

    @abc.abstractmethod
    def next_chunk(self, max_steps: int, ahead: int | None) -> StepChunk | None:
        """The next steps, at least one and at most ``max_steps``; None when the pass is over.

        ``ahead`` is the number of steps that training will run before it pauses, None if that is not known.
        The source is never read further than that.
        """

    @abc.abstractmethod
    def position(self) -> State:
        """The position after the last chunk: what `open_feed` needs to continue from there."""

    @abc.abstractmethod
    def close(self) -> None:
        """Releases what the pass holds (a user's iterator, threads). Safe to call twice."""


class Feed(abc.ABC):
    """Data that can be read in passes."""

    @property
    @abc.abstractmethod
    def num_batches(self) -> int | None:
        """Batches in one pass; None when that is unknown or infinite."""

    @property
    @abc.abstractmethod
    def is_endless(self) -> bool:
        """Whether the data never ends: passes are then consecutive parts of it."""

    @property
    @abc.abstractmethod
    def batch_spec(self) -> Any:
        """Shapes and dtypes of a regular batch as the step receives it."""

    @property
    @abc.abstractmethod
    def is_restartable(self) -> bool:
        """Whether a second pass is possible."""

    @property
    @abc.abstractmethod
    def can_open_ahead(self) -> bool:
        """Whether a pass may be opened by another thread while the previous one is being read."""

    @property
    @abc.abstractmethod
    def resume_caveat(self) -> str | None:
        """Why a pass that is opened at a position may give other batches than before; None if it cannot."""

    @property
    @abc.abstractmethod
    def differs_by_process(self) -> bool:
        """Whether each process has its own data, and so its own positions."""

    @property
    @abc.abstractmethod
    def resident_bytes(self) -> int:
        """Bytes of data held on the devices for all passes; 0 if each pass sends its batches."""

    def use_sequence_padding(self, padding: ExactPadding | str) -> None:  # noqa: B027 (nothing to do by default)
        """The model is built: how its sequences may be padded, or why they may not. Those of arrays have one length."""

    @abc.abstractmethod
    def open(self) -> DataPass:
        """Begins the next pass. The first one of a feed that was opened at a position begins there."""

    @abc.abstractmethod
    def close(self) -> None:
        """Releases what the feed holds besides its passes. Safe to call twice."""

    @abc.abstractmethod
    def release(self) -> None:
        """Releases memory on the devices. The feed is not used again, and no running program reads its chunks."""
