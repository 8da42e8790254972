"""TCP ports of this machine that no other launcher takes.

A port that was free when it was looked for can be taken before worker 0 listens on it. Worse, the server of JAX's
coordinator shares its port with any process that asks (SO_REUSEPORT): two jobs on one port do not fail, they mix (seen
with JAX 0.10.2: the second job's worker 0 registers with the first job and ends it). So a launcher that takes a port
also holds its name: a Unix socket in Linux's abstract namespace, which has the same scope as the port (the network
namespace) and goes away with its holder.
"""

from __future__ import annotations

import contextlib
import random
import socket
import sys
from collections.abc import Iterator
from typing import Final

from unisono_launch.launch._options import UsageError

# Below what Linux gives to outgoing connections (32768 to 60999), so no program holds such a port by chance.
_RANGE: Final = range(20000, 32768)
_NUM_TRIED: Final = 50


@contextlib.contextmanager
def hold_free_ports(count: int) -> Iterator[list[int]]:
    """Ports that no process listens on, ours until the block ends."""
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        for port in random.SystemRandom().sample(_RANGE, len(_RANGE)):
            if len(ports) == count:
                break
            if _take(port, held):
                ports.append(port)
        if len(ports) < count:
            raise UsageError(
                f"This machine has no {count} free ports between {_RANGE.start} and {_RANGE.stop - 1}. "
                "End what holds them (`ss -ltn` shows it), or start fewer workers."
            )
        yield ports


@contextlib.contextmanager
def hold_port(port: int) -> Iterator[int]:
    """The given port, at which other machines expect us; raises :class:`UsageError` if it is taken."""
    with contextlib.ExitStack() as held:
        if not _take(port, held):
            raise UsageError(
                f"Port {port} of this machine is taken, perhaps by another job. "
                "Give another, on every machine of this job the same: --master-port P"
            )
        yield port


@contextlib.contextmanager
def hold_next_port(first: int) -> Iterator[int]:
    """The first free port from `first` on: where no other launcher has to know it, or this one sends it to all."""
    with contextlib.ExitStack() as held:
        for port in range(first, min(first + _NUM_TRIED, 65536)):
            if _take(port, held):
                yield port
                return
    raise UsageError(
        f"Port {first} of this machine and the {_NUM_TRIED - 1} after it are taken. "
        "Give another; if the job has several machines, the same on all of them: --master-port P"
    )


def ports_of_attempt(first: int, count: int, attempt: int) -> list[int]:
    """The ports of an attempt, by its number: the same on all machines of a job, also where launchers do not connect.

    JAX uses the first one only; the rest is for TF_CONFIG.

    >>> ports_of_attempt(29500, 2, 1)
    [29501, 29601]
    """
    wanted = [first + attempt + 100 * i for i in range(count)]
    return [port if port < 65536 else port - 32768 for port in wanted]


def launcher_port(master_port: int) -> int:
    """Where the launchers of an elastic job connect: one below the workers' ports, which go up with attempts.

    >>> launcher_port(29500)
    29499
    """
    return master_port - 1


def _take(port: int, held: contextlib.ExitStack) -> bool:
    with contextlib.ExitStack() as name:
        try:
            if sys.platform == "linux":
                name.enter_context(socket.socket(socket.AF_UNIX)).bind(f"\0unisono-port-{port}")
            with socket.socket(socket.AF_INET) as probe:  # bound and closed: no peer can connect to it
                # Connections of a job that has just ended (TIME_WAIT, a minute) do not count; a listener does.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("", port))
        except OSError:
            return False
        held.push(name.pop_all())
    return True
