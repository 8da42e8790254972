"""The contract between input and training.

A *feed* can be passed over again and again. A *pass* hands out *windows*: arrays that already lie on the devices,
and which of the steps in them to run next. Training asks for at most so many steps at a time and never learns
whether the rows were gathered on the device, on the host, or by a user's generator.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Any

from unisono._src.data.feed._readers import Reader
from unisono._src.data.plans import State


@dataclass(frozen=True, eq=False)
class StepChunk:
    """Steps ``start`` to ``start + count`` of what ``operands`` hold.

    Attributes:
        operands: arrays on the devices; the same object for many windows.
        reader: gives the batch of one step out of ``operands``, inside a compiled program.
        capacity: the number of steps that ``operands`` hold in all.
        is_regular: whether this is the ordinary kind of batch, of which there are many. A loop is compiled for
            those; an odd last batch runs by itself.
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
    def next_chunk(self, most: int, ahead: int | None) -> StepChunk | None:
        """The next steps, at least one and at most ``most``; None when the pass is over.

        ``ahead`` is how many steps will be asked for in all before training pauses, None if that is not known.
        A source is never read beyond it.
        """

    @abc.abstractmethod
    def position(self) -> State:
        """Where the pass stands: after the last window. What `open_feed` takes to go on from there."""

    @abc.abstractmethod
    def close(self) -> None:
        """Gives back what the pass holds (a user's iterator, threads). Safe to call twice."""


class Feed(abc.ABC):
    """Data that can be passed over."""

    @property
    @abc.abstractmethod
    def num_batches(self) -> int | None:
        """Batches in one pass; None when that is unknown or infinite."""

    @property
    @abc.abstractmethod
    def is_endless(self) -> bool:
        """Whether passes are only windows of something without end, and follow each other silently."""

    @property
    @abc.abstractmethod
    def batch_spec(self) -> Any:
        """Shapes and dtypes of an ordinary batch as the step receives it."""

    @property
    @abc.abstractmethod
    def is_restartable(self) -> bool:
        """Whether a second pass is possible."""

    @property
    @abc.abstractmethod
    def can_open_ahead(self) -> bool:
        """Whether a pass may be opened, by another thread, while the one before it is being used."""

    @property
    @abc.abstractmethod
    def resume_caveat(self) -> str | None:
        """Why a pass that is opened at a position may go on with other batches; None if it surely does not."""

    @property
    @abc.abstractmethod
    def differs_by_process(self) -> bool:
        """Whether each process has data, and so places, of its own."""

    @property
    @abc.abstractmethod
    def resident_bytes(self) -> int:
        """Bytes of data held on the devices for all passes; 0 if each pass sends its batches."""

    @abc.abstractmethod
    def open(self) -> DataPass:
        """Begins the next pass. The first one of a feed that was opened at a position begins there."""

    @abc.abstractmethod
    def close(self) -> None:
        """Gives back what the feed holds besides its passes. Safe to call twice."""

    @abc.abstractmethod
    def release(self) -> None:
        """The feed will not be used again, and no program that reads its windows is in flight any more."""
