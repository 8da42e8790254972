"""Watches the process that uses JAX, with a time limit for each of its stages."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, Final, NamedTuple

COMMAND: Final = (sys.executable, "-m", "unisono_launch.doctor._probe")

_LAST_CHARACTERS: Final = 4000  # of what a process said or raised, for reports
_LAST_LINES: Final = 3  # … and for the screen


class Answer(NamedTuple):
    """What is known of a stage: one of the first three, and what belongs to an error."""

    facts: dict[str, Any] | None = None
    error: str | None = None
    untried: str | None = None
    """The stage for want of which this one was not tried."""
    details: str = ""
    """A traceback, or the last that the process said."""


Ask = Callable[[str, float], Answer]
"""Waits for the answer of a stage, so many seconds at most."""


class _Probe:
    """The process that uses JAX, once it runs."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        self._process = process
        self._said = said
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._ended_in: str | None = None
        self._reader = threading.Thread(target=self._read, name="unisono-doctor-probe", daemon=True)
        self._reader.start()

    def answer(self, stage: str, seconds: float) -> Answer:
        """Waits for the line of `stage`, which comes next. A process that is too slow is ended."""
        if self._ended_in:
            return Answer(untried=self._ended_in)
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self._ended_in = stage
            self.end()
            return Answer(error=f"It did not end within {seconds:g} seconds.", details=self._last_words())
        if not line:
            self._ended_in = stage
            return Answer(error=self._death(), details=self._last_words())
        told = json.loads(line)
        details = told.get("traceback", "")
        return Answer(told.get("facts"), told.get("error"), told.get("untried"), details[-_LAST_CHARACTERS:])

    def end(self) -> None:
        """Ends the process, and what it may have started."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _death(self) -> str:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        last = "\n".join(self._last_words().strip().splitlines()[-_LAST_LINES:])
        return f"Its process ended with {how}." + (f" The last it said:\n{last}" if last else "")

    def _last_words(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _LAST_CHARACTERS))
        return self._said.read().decode(errors="replace")


@contextlib.contextmanager
def probing(environ: Mapping[str, str], command: Sequence[str] = COMMAND) -> Iterator[Ask]:
    """Starts the process, which has ended when the block has; gives what asks for its answers, stage by stage."""
    with contextlib.ExitStack() as stack:
        said = stack.enter_context(tempfile.TemporaryFile())
        try:
            process = subprocess.Popen(
                command,
                env=_for_probe(environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                start_new_session=True,  # Ctrl-C is for the doctor, who ends this one
            )
        except OSError as error:
            failure = Answer(error=f"Its process could not be started: {error}.")
            yield lambda stage, seconds: failure
            return
        probe = _Probe(stack.enter_context(process), said)
        stack.callback(probe.end)
        yield probe.answer


def _for_probe(environ: Mapping[str, str]) -> dict[str, str]:
    """What training would find, but for its effects on others.

    JAX takes most of a GPU's memory at once, and a training that runs there may have it. The file of
    `UNISONO_STATUS` tells how far a worker is, and the doctor is none.
    """
    inherited = {name: value for name, value in environ.items() if name != "UNISONO_STATUS"}
    return {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **inherited}
