"""The rendezvous of a job's workers at the chief, before JAX starts.

JAX ends a process that waits in vain for its peers, without saying for which. So the chief first listens at the
coordinator's address itself. Every other worker connects until the chief answers, sends its index, and hears whether
all have connected. Each also learns by which of its addresses its peers reach it.
"""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass
from typing import Any, Final

from unisono_launch.cluster import join_address, split_address
from unisono_launch.connection import Connection, Listener, Lost, Message, PeerLostError, Received

_VERSION: Final = 1
_CONNECT_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.1

MISSING = """{number} of {all} workers did not connect within {seconds:.0f} seconds: {missing}.
{present} connected to {coordinator}.
Start the missing ones with the same cluster, or look at their logs. CommunicationOptions(timeout_seconds=...) sets how
long to wait."""

NO_CHIEF = """{name} could not reach {coordinator}, the address of {chief}, for {seconds:.0f} seconds.
Is it running, and can this machine reach it? {reason}"""

DUPLICATE = (
    """Two workers say that they are {name}. Give each its own number: in TF_CONFIG, "task": {{"index": ...}}."""
)

MISMATCH = """The workers do not fit together: {what} is {here!r} for {name} and {there!r} for {chief}.
All of them have to run the same versions, with the same cluster."""


@dataclass(frozen=True)
class Rendezvous:
    """Where the workers find each other, and which are expected.

    Attributes:
        coordinator: "host:port" of the chief.
        index: which worker this is; 0 is the chief.
        names: what errors call each of them.
        seconds: how long to wait.
    """

    coordinator: str
    index: int
    names: tuple[str, ...]
    seconds: float


def wait_for_workers(rendezvous: Rendezvous, must_match: dict[str, Any]) -> str:
    """Waits until all workers have connected; returns the address by which they reach this machine.

    Args:
        rendezvous: where, and which workers are expected.
        must_match: what must be the same for all of them.
    """
    if rendezvous.index == 0:
        return _Chief(rendezvous, must_match).wait()
    return _connect_to_chief(rendezvous, must_match)


def bind_address(coordinator: str) -> str:
    """Where the chief listens: at the address that its workers use, not at all addresses of the machine.

    Unless that one is not the machine's own, as behind a load balancer.
    """
    host, port = split_address(coordinator)
    for family, _, _, _, address in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM):
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            try:
                tried.bind(address)
            except OSError:
                continue
        return join_address(str(address[0]), port)
    return f"0.0.0.0:{port}"


class _Chief:
    """The chief's side: the workers that have connected so far."""

    def __init__(self, rendezvous: Rendezvous, must_match: dict[str, Any]) -> None:
        self._rendezvous = rendezvous
        self._must_match = must_match
        self._workers: dict[int, Connection] = {}

    def wait(self) -> str:
        """Waits for all workers, and tells them the result; raises what it tells them if there is an error."""
        host, port = split_address(bind_address(self._rendezvous.coordinator))
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        server = socket.create_server((host, port), family=family, backlog=len(self._rendezvous.names))
        with contextlib.closing(Listener(server)) as listener:
            try:
                self._wait_for_all(listener)
            except (TimeoutError, ValueError) as error:
                self._tell_all({"version": _VERSION, "error": type(error).__name__, "message": str(error)})
                raise
            own_host = next(iter(self._workers.values())).own_host
            self._tell_all({"version": _VERSION})
            return own_host

    def _wait_for_all(self, listener: Listener) -> None:
        deadline = time.monotonic() + self._rendezvous.seconds
        while len(self._workers) + 1 < len(self._rendezvous.names):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(self._describe_missing())
            for event in listener.events(listener.wait(min(left, 1.0))):
                if isinstance(event, Received):
                    self._welcome(listener, event.connection, event.message)
                elif isinstance(event, Lost):  # it may connect again after a restart
                    self._workers = {i: known for i, known in self._workers.items() if known is not event.connection}

    def _welcome(self, listener: Listener, connection: Connection, hello: Message) -> None:
        """Counts a worker; raises `ValueError` if it does not fit. What is no worker, such as a scanner, is dropped."""
        if connection.identified:  # it has said all that it has to say
            return
        index, theirs = hello.get("index"), hello.get("alike")
        if hello.get("version") != _VERSION or not isinstance(index, int) or not isinstance(theirs, dict):
            listener.drop(connection)
            return
        names = self._rendezvous.names
        if not 0 < index < len(names) or index in self._workers:
            listener.drop(connection)
            name = names[index] if 0 <= index < len(names) else f"number {index}"
            raise ValueError(DUPLICATE.format(name=name))
        listener.identify(connection)
        self._workers[index] = connection
        for what, ours in self._must_match.items():
            if theirs.get(what) != ours:
                found = {"here": theirs.get(what), "there": ours}
                raise ValueError(MISMATCH.format(what=what, name=names[index], chief=names[0], **found))

    def _describe_missing(self) -> str:
        names = self._rendezvous.names
        present = [0, *sorted(self._workers)]
        missing = [name for index, name in enumerate(names) if index not in present]
        return MISSING.format(
            number=len(missing),
            all=len(names),
            seconds=self._rendezvous.seconds,
            missing=", ".join(missing),
            present=", ".join(names[index] for index in present),
            coordinator=self._rendezvous.coordinator,
        )

    def _tell_all(self, message: Message) -> None:
        for connection in self._workers.values():
            # One that is gone must not keep the rest from hearing it; JAX will notice that it is missing.
            with contextlib.suppress(PeerLostError):
                connection.send(message)
                connection.finish_sending()


def _connect_to_chief(rendezvous: Rendezvous, must_match: dict[str, Any]) -> str:
    deadline = time.monotonic() + rendezvous.seconds
    reason = ""
    while (left := deadline - time.monotonic()) > 0:
        try:
            address = split_address(rendezvous.coordinator)
            opened = socket.create_connection(address, timeout=min(left, _CONNECT_SECONDS))
            with contextlib.closing(Connection(opened)) as chief:
                chief.identified = True  # its errors name all workers, which can be many
                chief.send({"version": _VERSION, "index": rendezvous.index, "alike": must_match})
                # The chief's own limit comes first, and says which are missing.
                answer = chief.receive_one(deadline + _CONNECT_SECONDS)
                own_host = chief.own_host
        except (OSError, PeerLostError) as error:
            reason = f"The last attempt: {error}."
        else:
            _raise_error(answer)
            return own_host
        time.sleep(_RETRY_SECONDS)
    names = {"name": rendezvous.names[rendezvous.index], "chief": rendezvous.names[0]}
    raise TimeoutError(
        NO_CHIEF.format(coordinator=rendezvous.coordinator, seconds=rendezvous.seconds, reason=reason, **names)
    )


def _raise_error(answer: Message) -> None:
    if "error" in answer:
        kind = TimeoutError if answer["error"] == "TimeoutError" else ValueError
        raise kind(str(answer.get("message")))
