"""Workers as processes of this machine, each in its own session."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final, final

from unisono_launch.launch._events import Events, ThreadCrashed, WorkerExited
from unisono_launch.launch.workers._watchdog import JOB_VARIABLE, find_leftovers, kill_job
from unisono_launch.launch.workers._worker import Worker, WorkerExit, WorkerStarter

_EXEC_WORKER: Final = Path(__file__).with_name("_exec_worker.py")
_WATCHDOG: Final = Path(__file__).with_name("_watchdog.py")
_WATCHDOG_SECONDS: Final = 10.0  # the watchdog gives up sooner


@final
class LocalProcesses(WorkerStarter):
    """Starts workers on this machine. They and their children end with the launcher, however it ends.

    Workers must be started in the main thread: the kernel ties the life of a process to the thread that made it.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._job = uuid.uuid4().hex
        self._watchdog: _Watchdog | None = None

    def __enter__(self) -> LocalProcesses:
        self._watchdog = _Watchdog(self._job, self._environ)
        return self

    def __exit__(self, *exception: object) -> None:
        assert self._watchdog is not None
        self._watchdog.close()

    def start(self, rank: int, program: Sequence[str], environment: Mapping[str, str], events: Events) -> Worker:
        """Starts a process, and lets the watchdog know."""
        assert self._watchdog is not None
        return _LocalProcess(rank, program, {**environment, JOB_VARIABLE: self._job}, events, self._watchdog)

    def end_leftovers(self, workers: Sequence[Worker], grace: float) -> None:
        """Ends what is left in the sessions of `workers`, or carries the mark of this job."""
        sessions = [worker.session for worker in workers if isinstance(worker, _LocalProcess)]
        deadline = time.monotonic() + grace
        found = find_leftovers(self._job, sessions) if grace else set()
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGTERM)
        while found and time.monotonic() < deadline:
            time.sleep(0.02)
            found = find_leftovers(self._job, sessions)
        kill_job(self._job, sessions)


@final
class _LocalProcess(Worker):
    """One process, and the moment at which it ended."""

    def __init__(
        self,
        rank: int,
        program: Sequence[str],
        environment: Mapping[str, str],
        events: Events,
        watchdog: _Watchdog,
    ) -> None:
        super().__init__(rank)
        self._watchdog = watchdog
        self._released = False
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_EXEC_WORKER), str(os.getpid()), sys.executable, *program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C comes through us, once; and all its children can be killed together
        )
        self.session = self._process.pid
        self._watchdog.watch(self.session)
        self._thread = threading.Thread(target=self._wait, args=(events,), name=f"unisono-worker-{rank}", daemon=True)
        self._thread.start()

    @property
    def name(self) -> str:
        """Its process number."""
        return f"process {self.session}"

    @property
    def output_streams(self) -> tuple[IO[bytes], IO[bytes]]:
        """Its standard output and standard error."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        return self._process.stdout, self._process.stderr

    def is_suspended(self) -> bool:
        """Whether SIGSTOP holds it; False without /proc."""
        try:
            stat = Path(f"/proc/{self.session}/stat").read_text(errors="replace")
        except OSError:
            return False
        return stat.rpartition(")")[2].split()[0] == "T"

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal to the process, not to its group."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.session, number)

    def kill(self) -> None:
        """Kills its process group."""
        if self._released:
            return
        self._note_stop_request()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.session, signal.SIGKILL)

    def release(self, timeout: float) -> bool:
        """Lets the kernel forget it once it has ended. Its number can mean another process then."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            return False
        self._process.wait()
        self._released = True
        self._watchdog.forget(self.session)
        return True

    def _wait(self, events: Events) -> None:
        """Notes the moment of the end, whatever the main thread is doing: the order of ends shows which was first."""
        try:
            if hasattr(os, "waitid"):
                # WNOWAIT: it stays a zombie, so that its number stays its own until it is released.
                found = os.waitid(os.P_PID, self.session, os.WEXITED | os.WNOWAIT)
                assert found is not None
                code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
            else:  # macOS before Python 3.13
                code = self._process.wait()
            self.exit = WorkerExit(code, time.monotonic())
            events.put(WorkerExited(self.rank))
        except BaseException as error:
            events.put(ThreadCrashed(error))


@final
class _Watchdog:
    """The launcher's end of the pipe to the process that `_watchdog.py` describes."""

    def __init__(self, job: str, environ: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_WATCHDOG), job],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,  # never ours: a reader of our output waits until no process holds it
            stderr=subprocess.DEVNULL,
            # Without the mark: the job of our parent must not end it.
            env={name: value for name, value in environ.items() if name != JOB_VARIABLE},
            cwd="/",
            start_new_session=True,
        )

    def watch(self, session: int) -> None:
        """Lets the watchdog end this session if the launcher dies."""
        self._write(f"+{session}\n")

    def forget(self, session: int) -> None:
        """Lets the watchdog know that this session has ended."""
        self._write(f"-{session}\n")

    def close(self) -> None:
        """Ends the watchdog, which first ends what it still watches."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(_WATCHDOG_SECONDS)

    def _write(self, line: str) -> None:
        assert self._process.stdin is not None
        # Broken if the watchdog was killed: on Linux the kernel still ends the workers with the launcher.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
