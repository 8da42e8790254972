"""The processes of a job: joining, and what they have to agree on."""

from __future__ import annotations

import atexit
import functools
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from unisono.runtime._roll_call import Meeting, meet

DEFAULT_TIMEOUT_SECONDS: Final = 300.0
# A worker that is stopped, or whose network is gone, is noticed after this long.
_HEARTBEAT_SECONDS: Final = 10
# A worker that has ended waits for the others at the exit, which may still be saving.
_SHUTDOWN_SECONDS: Final = 600

TOO_LATE = """JAX has already started in this process, alone. A worker has to join the others before: make the strategy
first, directly after the imports, and then arrays, datasets and models."""

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
    def number(self) -> int:
        """How many there are."""
        return len(self.names)

    @property
    def is_chief(self) -> bool:
        """Whether this is the one that writes files and speaks for all."""
        return self.index == 0


_joined = Processes()


def processes() -> Processes:
    """The processes of this job; this one alone unless it has joined others."""
    return _joined


def join(coordinator: str | None, processes: Processes, timeout_seconds: float | None, alike: dict[str, Any]) -> None:
    """Joins the others, and returns when all are there.

    Args:
        coordinator: "host:port" where the chief listens; None for a process that is alone.
        processes: who they are.
        timeout_seconds: how long to wait for them; None for the default.
        alike: what must be equal for all of them: versions, say.
    """
    global _joined
    if _joined == processes:
        return
    if _joined.number > 1:
        raise RuntimeError(OTHER_JOB.format(number=_joined.number, name=_joined.names[_joined.index]))
    if processes.number == 1 or coordinator is None:
        return
    _check_not_started()
    seconds = DEFAULT_TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
    meet(Meeting(coordinator, processes.index, processes.names, seconds), alike, {})
    if getattr(jax.config, "jax_cpu_collectives_implementation", None) in (None, "none"):
        jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(
        coordinator,
        processes.number,
        processes.index,
        initialization_timeout=max(30, int(seconds)),
        heartbeat_timeout_seconds=_HEARTBEAT_SECONDS,
        shutdown_timeout_seconds=_SHUTDOWN_SECONDS,
    )
    _joined = processes
    _leave_at_once_on_errors()


def _check_not_started() -> None:
    name = "jax_num_cpu_devices"
    try:
        jax.config.update(name, getattr(jax.config, name))  # changes nothing, and is refused once JAX has started
    except RuntimeError:
        raise RuntimeError(TOO_LATE) from None


def exchanged(numbers: Any) -> np.ndarray[Any, Any]:
    """What each process passes, a few numbers, as one array with a line for each. All of them have to call it."""
    line = np.asarray(numbers)
    if _joined.number == 1:
        return line[None]
    # JAX has no 64 bits unless told so, hence bytes.
    raw = np.ascontiguousarray(line).reshape(-1).view(np.uint8)
    every = np.asarray(_programs()[1](_lines(raw)))
    return every.view(line.dtype).reshape(_joined.number, *line.shape)


def from_chief(array: Any) -> np.ndarray[Any, Any]:
    """What the chief passes; the others' need only have its shape and dtype. All of them have to call it.

    It travels as bytes in a buffer whose size is a power of two, so that few programs are compiled for many arrays.
    """
    if _joined.number == 1:
        return np.asarray(array)
    host = np.ascontiguousarray(array)
    size = max(256, 1 << (max(host.nbytes, 1) - 1).bit_length())
    buffer = np.zeros(size, np.uint8)
    buffer[: host.nbytes] = host.reshape(-1).view(np.uint8)
    sent = np.asarray(_programs()[0](_lines(buffer)))
    received: np.ndarray[Any, Any] = sent[: host.nbytes].view(host.dtype).reshape(np.shape(array))
    return received


def _lines(line: np.ndarray[Any, Any]) -> jax.Array:
    """One array with a line of each process, on its first device."""
    mesh = _first_devices()
    with jax.ensure_compile_time_eval():  # a variable may be made while a function is traced
        here = jax.device_put(line[None], jax.local_devices()[0])
        shape = (_joined.number, *line.shape)
        return jax.make_array_from_single_device_arrays(shape, NamedSharding(mesh, PartitionSpec("process")), [here])


@functools.cache
def _first_devices() -> Mesh:
    first: dict[int, jax.Device] = {}
    for device in jax.devices():
        first.setdefault(device.process_index, device)
    return Mesh(np.array([first[index] for index in sorted(first)]), ("process",))


@functools.cache
def _programs() -> tuple[Callable[[jax.Array], jax.Array], Callable[[jax.Array], jax.Array]]:
    """The line of the chief for all, and all lines for all."""
    everywhere = NamedSharding(_first_devices(), PartitionSpec())

    def compiled(function: Callable[[jax.Array], jax.Array]) -> Callable[[jax.Array], jax.Array]:
        jitted = jax.jit(function, out_shardings=everywhere)

        def call(lines: jax.Array) -> jax.Array:
            with jax.ensure_compile_time_eval():
                return jitted(lines)  # type: ignore[no-any-return]

        return call

    return compiled(lambda lines: lines[0]), compiled(lambda lines: lines)


def _leave_at_once_on_errors() -> None:
    """An exception on one worker must end the process, not wait at the exit for the others, which wait for it."""
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        before(kind, error, traceback)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

    sys.excepthook = hook
    atexit.register(sys.stdout.flush)
