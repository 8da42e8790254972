"""`SummaryWriter`: what summaries go to."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import jax

from unisono._src import jax_hooks
from unisono.tf.summary import _defaults


class SummaryWriter(abc.ABC):
    """Takes events. Made by `tf.summary.create_file_writer`."""

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """Inside, summaries go to this writer, and have ``step`` if they say nothing else.

        At the end it is waited for what compiled functions still have to write.
        """
        self.check_open()
        with _defaults.writing_to(self, step):
            yield self
            if jax_hooks.is_evaluating():
                jax.effects_barrier()
        self.flush()

    def set_as_default(self, step: Any = None) -> None:
        """From now on summaries go to this writer."""
        self.check_open()
        _defaults.write_to(self, step)

    def init(self) -> None:
        """Checks that it is open. There is nothing to make ready."""
        self.check_open()

    @abc.abstractmethod
    def check_open(self) -> None:
        """Raises if it is closed."""

    @abc.abstractmethod
    def write(self, event: bytes) -> None:
        """Adds an event. It may stand in a buffer until the next flush."""

    @abc.abstractmethod
    def flush(self) -> None:
        """Everything that was written is in the file when this returns, that of compiled functions too."""

    @abc.abstractmethod
    def close(self) -> None:
        """The last call: flushes, and closes the file."""


class NoopWriter(SummaryWriter):
    """Takes events and keeps none."""

    def check_open(self) -> None:
        pass

    def write(self, event: bytes) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing."""
    return NoopWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Flushes a writer; the default one if None."""
    chosen = writer or _defaults.current_writer()
    if chosen is not None:
        chosen.flush()
