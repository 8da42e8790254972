"""Starts and watches the process that uses JAX, with a time limit for each of its stages."""

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

_LAST_CHARACTERS: Final = 4000  # of what a process wrote or raised, for reports
_LAST_LINES: Final = 3  # … and for the screen


class Answer(NamedTuple):
    """The result of a stage: one of the first three, and the details of an error."""

    facts: dict[str, Any] | None = None
    error: str | None = None
    untried: str | None = None
    """The prerequisite that failed, so that this stage was not tried."""
    details: str = ""
    """A traceback, or the last that the process wrote."""


Ask = Callable[[str, float], Answer]
"""Waits for the answer of a stage, so many seconds at most."""


class _Probe:
    """The process that uses JAX, once it runs."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
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
            return Answer(error=f"It did not end within {seconds:g} seconds.", details=self._last_output())
        if not line:
            self._ended_in = stage
            return Answer(error=self._describe_end(), details=self._last_output())
        answer = json.loads(line)
        details = answer.get("traceback", "")
        return Answer(answer.get("facts"), answer.get("error"), answer.get("untried"), details[-_LAST_CHARACTERS:])

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

    def _describe_end(self) -> str:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        last = "\n".join(self._last_output().strip().splitlines()[-_LAST_LINES:])
        return f"Its process ended with {how}." + (f" Its last output:\n{last}" if last else "")

    def _last_output(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _LAST_CHARACTERS))
        return self._errors.read().decode(errors="replace")


@contextlib.contextmanager
def start_probe(environ: Mapping[str, str], command: Sequence[str] = COMMAND) -> Iterator[Ask]:
    """Starts the process, which ends with the block; yields the function that waits for its answers, stage by stage."""
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        try:
            process = subprocess.Popen(
                command,
                env=_probe_environment(environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C is for the doctor, which ends this one
            )
        except OSError as error:
            failure = Answer(error=f"Its process could not be started: {error}.")
            yield lambda stage, seconds: failure
            return
        probe = _Probe(stack.enter_context(process), errors)
        stack.callback(probe.end)
        yield probe.answer


def _probe_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of training, without its effects on a training that runs here.

    JAX takes most of a GPU's memory at once, which that training may have. The file of `UNISONO_STATUS` says how far a
    worker is, and the doctor is none.
    """
    inherited = {name: value for name, value in environ.items() if name != "UNISONO_STATUS"}
    return {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", **inherited}
