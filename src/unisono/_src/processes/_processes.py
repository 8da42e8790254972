"""The processes of a job: their names, joining them, and exiting when one of them fails."""

from __future__ import annotations

import os
import re
import resource
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

import jax

from unisono._src.core import read_environment
from unisono._src.devices import check_jax_not_started
from unisono._src.processes._progress import report_failure, status_path
from unisono._src.processes._rendezvous import Rendezvous, bind_address, wait_for_workers
from unisono._src.processes._script_exit import end_at_once_on_exit
from unisono_launch.worker import ExitCode

DEFAULT_TIMEOUT_SECONDS: Final = 300.0
# A worker that is stopped, or whose network is gone, is noticed after this long.
_HEARTBEAT_SECONDS: Final = 8
# A worker that has finished waits at its exit for its peers, which may still be writing a checkpoint. JAX 0.10.2 passes
# this to the chief only; the others wait for five minutes, whatever is given, hence the same here.
_SHUTDOWN_SECONDS: Final = 300

TOO_LATE = """JAX has already started in this process, without the other workers. A worker has to join them before: make
the strategy first, directly after the imports, and then arrays, datasets and models."""

PEER_LOST = """{me} exits because {peers} has ended or cannot be reached ({error}).
The cause is in the log of that worker; the traceback of this one is {where}."""

# What the errors of gloo, NCCL and the coordination service about a broken connection contain.
_BROKEN_CONNECTION: Final = re.compile("Gloo|gloo/|NCCL|heartbeat|Socket closed|coordination service|Connection reset")
# JAX raises a ValueError for XLA's status "unknown", which is what gloo's failures have. Users raise them, too.
_BROKEN_GLOO: Final = re.compile("[A-Z_]{5,}: .*(Gloo|gloo/)")

UNKNOWN_PROCESSES = """JAX has joined {jax} processes, and Unisono knows of {ours}: each would train with initial values
and files of its own. Make unisono.MultiWorkerMirroredStrategy() in every process, after jax.distributed.initialize or
instead of it."""

OTHER_JOB = """This process already belongs to a job of {number} workers as {name}; it cannot join another one."""


@dataclass(frozen=True)
class Processes:
    """The processes of this job.

    Attributes:
        index: which of them this is; 0 is the chief.
        names: what errors call each of them.
    """

    index: int = 0
    names: tuple[str, ...] = ("this process",)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.names)

    @property
    def is_chief(self) -> bool:
        """Whether this is the one that writes files and prints."""
        return self.index == 0


_joined = Processes()


def processes() -> Processes:
    """The processes of this job; only this one unless it has joined peers."""
    return _joined


def adopt_joined_jax(names: tuple[str, ...] | None = None) -> bool:
    """Whether code outside Unisono has joined JAX's processes, by `jax.distributed.initialize`.

    If so, they are the processes of this job, with JAX's own numbers. ``names`` are used if there are as many. All
    processes have to call this.
    """
    global _joined
    if _joined.count > 1 or not jax.distributed.is_initialized() or jax.process_count() == 1:
        return False
    count = jax.process_count()
    if names is None or len(names) != count:
        names = tuple(f"process {index}" for index in range(count))
    _joined = Processes(jax.process_index(), names)
    _exit_at_once_on_errors()
    return True


def check_joined() -> None:
    """Raises if this process uses devices of other processes without knowing of these."""
    if jax.process_count() != _joined.count:
        raise RuntimeError(UNKNOWN_PROCESSES.format(jax=jax.process_count(), ours=_joined.count))


def join_processes(
    coordinator: str | None,
    processes: Processes,
    timeout_seconds: float | None,
    must_match: dict[str, Any],
    listen_at: Callable[[str], None],
    gpus: list[int] | None = None,
) -> None:
    """Joins the processes of a job, and returns when all have connected.

    Args:
        coordinator: "host:port" where the chief listens; None for a single process.
        processes: the processes, and which of them this is.
        timeout_seconds: how long to wait for them; None for the default.
        must_match: what must be equal on all of them, such as versions.
        listen_at: called before JAX starts, with the address by which the peers reach this machine.
        gpus: the GPUs of this machine that this process takes; None for all that it sees.
    """
    global _joined
    if _joined == processes:
        return
    if _joined.count > 1:
        raise RuntimeError(OTHER_JOB.format(number=_joined.count, name=_joined.names[_joined.index]))
    if processes.count == 1 or coordinator is None:
        return
    check_jax_not_started(TOO_LATE)
    seconds = DEFAULT_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
    rendezvous = Rendezvous(
        coordinator, processes.index, processes.names, seconds, secret=read_environment().job_secret
    )
    address = wait_for_workers(rendezvous, must_match)
    listen_at(address)
    if getattr(jax.config, "jax_cpu_collectives_implementation", None) in (None, "none"):
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    _allow_more_open_files()
    # JAX would take SIGTERM for a preemption notice, and continue: a worker that gets SIGTERM has to end.
    jax.config.update("jax_enable_preemption_service", False)
    jax.distributed.initialize(
        coordinator,
        processes.count,
        processes.index,
        local_device_ids=gpus,
        # Under SLURM and Open MPI JAX would leave a worker one GPU, that of its local rank, of all that it was given.
        cluster_detection_method="deactivate",
        coordinator_bind_address=bind_address(coordinator) if processes.is_chief else None,
        initialization_timeout=max(30, int(seconds)),
        heartbeat_timeout_seconds=_HEARTBEAT_SECONDS,
        shutdown_timeout_seconds=_SHUTDOWN_SECONDS,
    )
    _joined = processes
    _exit_at_once_on_errors()


def _allow_more_open_files() -> None:
    """Raises the soft limit to the hard one.

    gloo (JAX 0.10.2) keeps a descriptor of every connection that was ever made to its port, by whomever, and aborts the
    process at the limit, which often is 1024.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY:  # macOS refuses that as a soft limit
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _exit_at_once_on_errors() -> None:
    """An exception on one worker must end the process, not wait at the exit for its peers, which wait for it."""
    previous_hook = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, frames: TracebackType | None) -> None:
        is_peer_lost = _is_broken_connection(error)
        try:
            report_failure()
            stored = _store_traceback(error) if is_peer_lost else None
            if stored is None:
                previous_hook(kind, error, frames)
            if is_peer_lost:
                _print_lost_peer(error, "above" if stored is None else f"in {stored}")
            sys.stdout.flush()
            sys.stderr.flush()
        finally:  # also where nothing can be written any more, as into a file on a full disk
            os._exit(ExitCode.LOST if is_peer_lost else ExitCode.FAILED)

    sys.excepthook = hook
    end_at_once_on_exit()


def _print_lost_peer(error: BaseException, where: str) -> None:
    peers = [name for index, name in enumerate(_joined.names) if index != _joined.index]
    message = str(error)
    if "heartbeat" not in message:  # else the launcher reads in it which worker is stuck
        message = (message.splitlines() or [""])[0]
    text = PEER_LOST.format(
        me=_joined.names[_joined.index],
        peers=peers[0] if len(peers) == 1 else f"another worker of the job ({', '.join(peers)})",
        error=f"{type(error).__name__}: {message}",
        where=where,
    )
    print(text, file=sys.stderr)


def _store_traceback(error: BaseException) -> str | None:
    """Writes the traceback beside the log of this worker; None if there is none, or it cannot be written.

    Dozens of lines about a connection would stand before the launcher's report, which has the cause.
    """
    status = status_path()
    if status is None:
        return None
    path = f"{status.removesuffix('.status')}.traceback"
    try:
        with open(path, "a") as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        return None
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _is_broken_connection(error: BaseException | None) -> bool:
    """Whether the error, or a cause of it, is what JAX raises when the connection to another process breaks."""
    while error is not None:
        if isinstance(error, jax.errors.JaxRuntimeError) and _BROKEN_CONNECTION.search(str(error)):
            return True
        if isinstance(error, ValueError) and _BROKEN_GLOO.match(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
