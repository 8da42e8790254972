"""`tf.summary.SummaryWriter`, the interface of writers, and the writer that drops everything."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from typing import Any

import jax

from unisono._src import jax_hooks
from unisono.tf.summary import _defaults


class SummaryWriter(abc.ABC):
    """Receives events. Created by `tf.summary.create_file_writer`."""

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """A context in which this writer is the default, with ``step`` as the default step.

        At the end it waits until compiled functions have written their summaries.
        """
        self.check_open()
        with _defaults.use_writer(self, step):
            yield self
            if jax_hooks.is_evaluating():
                jax.effects_barrier()
        self.flush()

    def set_as_default(self, step: Any = None) -> None:
        """Makes this writer the default from now on."""
        self.check_open()
        _defaults.set_writer(self, step)

    def init(self) -> None:
        """Only checks that the writer is open."""
        self.check_open()

    @abc.abstractmethod
    def check_open(self) -> None:
        """Raises RuntimeError if the writer is closed."""

    @abc.abstractmethod
    def write(self, event: bytes) -> None:
        """Adds an event, which may be buffered until the next flush."""

    @abc.abstractmethod
    def flush(self) -> None:
        """Writes all buffered events to the file, also those of compiled functions."""

    @abc.abstractmethod
    def close(self) -> None:
        """Flushes and closes the file."""


class _NoopWriter(SummaryWriter):
    """Drops all events."""

    def check_open(self) -> None:
        pass

    def write(self, event: bytes) -> None:
        pass

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


def create_noop_writer() -> SummaryWriter:
    """Creates a writer that drops all events."""
    return _NoopWriter()


def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Flushes a writer; the default one if None."""
    chosen = writer or _defaults.current_writer()
    if chosen is not None:
        chosen.flush()
