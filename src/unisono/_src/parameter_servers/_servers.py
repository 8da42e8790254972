"""The parameter servers of a job, as the chief sees them."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Protocol, final

from unisono._src.parameter_servers._arrays import Array
from unisono._src.parameter_servers._channel import Channel, RefusedError, RequestError
from unisono._src.parameter_servers._errors import unavailable_error
from unisono._src.parameter_servers._exported import ExportedProgram
from unisono_launch.connection import Message, PeerLostError

_CONNECT_SECONDS: Final = 600.0
_SILENT_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.2

SERVER_LOST = """Parameter server {index} ({address}) was lost: {reason}. The variables that it held are gone, so the
job has ended. Start all tasks again, and restore the last checkpoint in the chief's script:
    tf.train.CheckpointManager(checkpoint, directory, max_to_keep=3).restore_or_initialize()"""

NOT_STARTED = """{task} {index} of the cluster did not answer at {address} for {seconds:.0f} seconds: {reason}.
Start it with the same cluster; its script calls tf.distribute.Server(cluster_spec, "{task}", {index}).join()."""

CLOSED = "The strategy was closed: its variables are gone and no function runs any more. Make a new strategy."

REFUSED = "{task} {index} of the cluster, at {address}, refuses this process: {reason}."


class DirtyValue(Protocol):
    """A value that the chief has changed and that its server does not have yet."""

    number: int
    server: int

    def to_host(self) -> Any:
        """The value, as a NumPy array."""

    def set_sent(self, version: int) -> None:
        """The server has the value now, as ``version``."""


def connect(task: str, index: int, address: str, job: str, seconds: float = _CONNECT_SECONDS) -> Channel:
    """Connects to a task as the chief, waiting until it has started."""
    started = time.monotonic()
    has_said = False
    while True:
        try:
            return Channel.open(address, "chief", job)
        except RefusedError as error:
            raise ValueError(REFUSED.format(task=task, index=index, address=address, reason=error)) from None
        except PeerLostError as error:
            if time.monotonic() > started + _SILENT_SECONDS and not has_said:
                print(f"unisono: waiting for {task} {index} at {address}: {error}", file=sys.stderr, flush=True)
                has_said = True
            if time.monotonic() > started + seconds:
                text = NOT_STARTED.format(task=task, index=index, address=address, seconds=seconds, reason=error)
                raise unavailable_error.current(text) from None
        time.sleep(_RETRY_SECONDS)


@final
class ParameterServers:
    """Connections to all of them, and which variables the chief has changed.

    The chief's own changes are sent when a closure is scheduled; while closures run, at once.

    Args:
        addresses: of the servers.
        job: the name of the job.
    """

    def __init__(self, addresses: Sequence[str], job: str) -> None:
        self.addresses, self.job = list(addresses), job
        self._channels = [connect("ps", index, address, job) for index, address in enumerate(addresses)]
        self._lock = threading.RLock()
        self._numbers = itertools.count()
        self._next_server = itertools.count()
        self._dirty: dict[int, DirtyValue] = {}
        self._forgotten: deque[tuple[int, int]] = deque()
        self._programs: set[tuple[int, str]] = set()
        self.is_lost = False
        """Whether one of them was lost: the job cannot continue."""
        self._is_closed = False
        self._in_flight = 0
        self._generation = 0

    def __len__(self) -> int:
        return len(self.addresses)

    def new_variable(self) -> tuple[int, int]:
        """The number of a new variable, and its server: one after the other."""
        return next(self._numbers), next(self._next_server) % len(self.addresses)

    def new_number(self) -> int:
        """The number of a new variable that is stored where another one is."""
        return next(self._numbers)

    # What closures may have changed.

    def closures_started(self, number: int) -> None:
        """From now on values on the servers may change."""
        with self._lock:
            self._in_flight += number
            self._generation += 1

    def closure_ended(self) -> None:
        """One of them has ended, or will not run."""
        with self._lock:
            self._in_flight -= 1
            self._generation += 1

    @property
    def generation(self) -> int | None:
        """A number that changes when values on the servers may have; None while closures run."""
        with self._lock:
            return None if self._in_flight else self._generation

    # Requests.

    def mark_changed(self, value: DirtyValue) -> None:
        """The chief has changed a value."""
        with self._lock:
            self._dirty[value.number] = value
            if self._in_flight:
                self.send_changes()

    def send_changes(self) -> None:
        """Sends the values that the chief has changed."""
        with self._lock:
            changed, self._dirty = self._dirty, {}
            for server in range(len(self)):
                values = [value for value in changed.values() if value.server == server]
                if values:
                    arrays = [value.to_host() for value in values]
                    request = {"type": "assign", "variables": [value.number for value in values]}
                    answer, _ = self.request(server, request, arrays)
                    for value in values:
                        value.set_sent(answer["version"])
            while self._forgotten:
                number, server = self._forgotten.popleft()
                self.request(server, {"type": "forget", "variables": [number]})

    def read(self, server: int, number: int, version: int) -> tuple[int, Array | None]:
        """The version that a variable has now, and its value unless that is the known ``version``."""
        answer, arrays = self.request(server, {"type": "read", "variables": [number], "known": [version]})
        return answer["versions"][0], arrays[0] if arrays else None

    def add_program(self, server: int, program: ExportedProgram) -> None:
        """Gives a server a program that updates variables."""
        if (server, program.key) not in self._programs:
            self.request(server, {"type": "program", "key": program.key}, data=program.data)
            self._programs.add((server, program.key))

    def forget(self, number: int, server: int) -> None:
        """A variable is not used any more. May be called at any moment, by the garbage collector: sends nothing."""
        self._forgotten.append((number, server))

    def request(
        self, server: int, message: Message, arrays: Sequence[Any] = (), data: bytes = b""
    ) -> tuple[Message, list[Array]]:
        """Asks one server; raises an error that ends the job if it is lost."""
        try:
            return self._channels[server].request(message, arrays, data)
        except PeerLostError as error:
            raise RuntimeError(CLOSED) if self._is_closed else self.lost(server, str(error)) from None
        except RequestError as error:
            raise RuntimeError(f"Parameter server {server} ({self.addresses[server]}): {error}") from None

    def lost(self, server: int, reason: str) -> Exception:
        """The error of a job that has lost a server."""
        self.is_lost = True
        return unavailable_error.current(
            SERVER_LOST.format(index=server, address=self.addresses[server], reason=reason)
        )

    def find_lost(self, reason: str) -> Exception | None:
        """Which server does not answer, as an error; None if all do."""
        for server in range(len(self)):
            try:
                self._channels[server].request({"type": "read", "variables": [], "known": []})
            except PeerLostError:
                return self.lost(server, reason)
        return None

    def close(self) -> None:
        """Ends the job on the servers: they forget its variables."""
        self._is_closed = True
        for channel in self._channels:
            channel.close()
