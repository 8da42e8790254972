"""The connections of the coordinator launcher to the launchers of the other machines.

A thread talks to all of them, so that one that is silent, slow or a stranger does not hold up the rest. What it learns
is read by the main thread, which is woken by events.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from unisono_launch.connection import (
    SECRET_VARIABLE,
    Connection,
    Listener,
    Lost,
    Message,
    Opened,
    PeerLostError,
    Received,
    make_proof,
    new_nonce,
)
from unisono_launch.launch._events import EndingElsewhere, EndingReason, Events, ThreadCrashed, UserMessage, WakeUp
from unisono_launch.launch._options import UsageError
from unisono_launch.launch._protocol import (
    BEAT_SECONDS,
    FAREWELL_SECONDS,
    SILENCE_SECONDS,
    SUSPENDED_SECONDS,
    VERSION,
    JoinRequirements,
    MachineReport,
    report_from_json,
)
from unisono_launch.worker import ExitCode

_MAX_REFUSALS_SHOWN: Final = 64
_BACKLOG: Final = 128
_MAX_HOST_NAME: Final = 255


@dataclass(frozen=True)
class LostMachine:
    """A machine whose launcher went away during an attempt."""

    at: float
    why: str


@dataclass
class _Member:
    """The launcher of a machine that has joined."""

    connection: Connection
    host: str
    beat_sent_at: float


@final
class CoordinatorServer:
    """Machines that have joined, by node rank. All public methods are for the main thread."""

    def __init__(self, server: socket.socket, requirements: JoinRequirements, events: Events) -> None:
        self.known_hosts: dict[int, str] = {}
        """The host of every machine that has ever joined."""
        self._requirements = requirements
        self._events = events
        self._lock = threading.RLock()
        self._listener = Listener(server)
        self._nonces: dict[Connection, str] = {}
        self._members: dict[int, _Member] = {}
        self._attempt = -1
        self._participants: frozenset[int] = frozenset()
        self._reports: dict[int, MachineReport] = {}
        self._losses: dict[int, LostMachine] = {}
        self._ending_since: float | None = None
        self._refused_hosts: set[str] = set()
        self._closes_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="unisono-coordinator", daemon=True)
        self._thread.start()

    @property
    def present(self) -> dict[int, str]:
        """The machines that have joined and are connected: node ranks and hosts."""
        with self._lock:
            return {node: member.host for node, member in sorted(self._members.items())}

    @property
    def outstanding(self) -> set[int]:
        """The machines whose workers may still run."""
        with self._lock:
            return set(self._participants) - self._reports.keys() - self._losses.keys()

    @property
    def reports(self) -> dict[int, MachineReport]:
        """How the attempt ended, on the machines that have reported."""
        with self._lock:
            return dict(self._reports)

    @property
    def losses(self) -> dict[int, LostMachine]:
        """Machines that were lost during the attempt."""
        with self._lock:
            return dict(self._losses)

    @property
    def ending_since(self) -> float | None:
        """When the machines were asked to end the attempt; None if they were not."""
        with self._lock:
            return self._ending_since

    def begin_attempt(self, attempt: int, why: str, hosts: Mapping[int, str], ports: tuple[int, ...]) -> None:
        """Starts an attempt on the machines in `hosts`, which take the ranks of their order."""
        with self._lock:
            self._attempt, self._participants = attempt, frozenset()
            self._reports, self._losses, self._ending_since = {}, {}, None
            plan = {"attempt": attempt, "why": why, "hosts": list(hosts.values()), "ports": list(ports)}
            for rank, node in enumerate(hosts):
                self._send(node, "go", rank=rank, **plan)
            # Only now: a machine that has left since the machines were chosen ends the attempt for those that began it.
            self._participants = frozenset(hosts) - {0}
            for node in self._participants - self._members.keys():
                self._lose_participant(node, "its launcher left before the attempt began")

    def end_attempt(self, reason: EndingReason) -> None:
        """Asks all machines to end the attempt."""
        with self._lock:
            self._spread_ending(reason, exclude=None)

    def exclude(self, node: int, code: int, why: str) -> None:
        """Sends a machine away, for the rest of the job."""
        with self._lock:
            self._send(node, "over", code=code, why=f"the job continues without this machine: {why}")
            member = self._members.get(node)
            if member is not None:
                self._remove(node, why)
                self._listener.let_leave(member.connection)

    def finish(self, code: int, why: str) -> None:
        """The job is over: lets all machines know, and waits for a moment until they have read it."""
        with self._lock:
            if self._closes_at is not None:
                return
            self._participants = frozenset()
            for node in tuple(self._members):
                self._send(node, "over", code=code, why=f"the job has ended on all machines: {why}")
            for member in self._members.values():
                member.connection.finish_sending()
            self._closes_at = time.monotonic() + FAREWELL_SECONDS
            self._listener.wake()
        self._thread.join(2 * FAREWELL_SECONDS)
        self._listener.close()

    def _run(self) -> None:
        try:
            before = time.monotonic()
            while not self._is_over():
                ready = self._listener.wait(BEAT_SECONDS / 2)
                with self._lock:
                    for event in self._listener.events(ready):
                        self._handle(event)
                    now = time.monotonic()
                    self._check_members(now, suspended=now - before > SUSPENDED_SECONDS)
                    before = now
        except BaseException as error:
            self._events.put(ThreadCrashed(error))

    def _is_over(self) -> bool:
        with self._lock:
            return self._closes_at is not None and (not self._members or time.monotonic() > self._closes_at)

    def _handle(self, event: Opened | Received | Lost) -> None:
        connection = event.connection
        try:
            if isinstance(event, Lost):
                raise PeerLostError(event.reason)
            if self._closes_at is not None and self._node_of(connection) is None:
                raise PeerLostError("the job has ended")
            if isinstance(event, Opened):
                self._nonces[connection] = new_nonce()
                connection.send({"type": "challenge", "version": VERSION, "nonce": self._nonces[connection]})
            elif connection in self._nonces:
                self._answer_hello(connection, event.message)
            elif (node := self._node_of(connection)) is not None:
                self._handle_message(node, event.message)
        except PeerLostError as lost:
            self._drop(connection, str(lost))

    def _check_members(self, now: float, *, suspended: bool) -> None:
        """Sends signs of life, and drops the machines that do not send any."""
        for node, member in tuple(self._members.items()):
            if suspended:
                member.connection.last_received = now
            if now - member.connection.last_received > SILENCE_SECONDS:
                self._drop(member.connection, f"no sign of life for {SILENCE_SECONDS:g} s")
            elif now - member.beat_sent_at > BEAT_SECONDS:
                member.beat_sent_at = now
                self._send(node, "beat")

    def _answer_hello(self, connection: Connection, hello: Message) -> None:
        """Lets a launcher join, or says why not."""
        challenge = self._nonces.pop(connection)
        node, again = hello.get("node"), False
        if self._requirements.proves_secret(hello, challenge):
            why = self._requirements.find_mismatch(hello)
        else:
            why = f"{SECRET_VARIABLE} is not that of the job. Set it to the same value on all machines."
            self._show_refusal(connection.peer_host)
        if why is None and node in self._members:  # it may be half-open still, after its machine was switched off
            why, again = f"--node-rank {node} is taken by {self._members[node].host}. Give each its own.", True
        if why is not None:
            connection.send({"type": "refused", "why": why, "again": again})
            self._listener.let_leave(connection)
            return
        self._admit(connection, hello, challenge)

    def _admit(self, connection: Connection, hello: Message, challenge: str) -> None:
        proof = make_proof(self._requirements.secret, "coordinator launcher", challenge, hello["nonce"])
        connection.send({"type": "welcome", "proof": proof})
        self._listener.identify(connection)
        node, host = hello["node"], _printable(str(hello.get("host")))
        self._members[node] = _Member(connection, host, time.monotonic())
        self.known_hosts[node] = host
        self._events.put(WakeUp())
        if self._attempt >= 0:
            self._show(f"machine {node} ({host}) has joined, and takes part from the next attempt on.")

    def _show_refusal(self, host: str) -> None:
        """Once for each address, and not for too many: strangers must not be able to fill the screen."""
        if host not in self._refused_hosts and len(self._refused_hosts) < _MAX_REFUSALS_SHOWN:
            self._refused_hosts.add(host)
            self._show(f"a launcher at {host} was refused: {SECRET_VARIABLE} is not set there, or differs.")

    def _handle_message(self, node: int, message: Message) -> None:
        current = node in self._participants and message.get("attempt") == self._attempt
        if message.get("type") == "ending" and current:
            # A machine whose launcher was asked to stop takes its workers along. Those of its peers may leave as after
            # a preemption.
            reason: EndingReason = "failed" if message.get("how") == "failed" else "preempted"
            self._spread_ending(reason, exclude=node)
            self._events.put(EndingElsewhere(self._attempt, reason))
        elif message.get("type") == "ended" and current:
            try:
                self._reports[node] = report_from_json(message)
            except ValueError as error:
                raise PeerLostError(f"it does not speak Unisono's protocol: {error}") from None
            self._events.put(WakeUp())

    def _spread_ending(self, reason: EndingReason, *, exclude: int | None) -> None:
        if self._ending_since is None:
            self._ending_since = time.monotonic()
        for node in self.outstanding - {exclude}:
            self._send(node, "end", attempt=self._attempt, how=reason)

    def _send(self, node: int, kind: str, **content: Any) -> None:
        member = self._members.get(node)
        if member is not None:
            try:
                member.connection.send({"type": kind, **content})
            except PeerLostError as lost:
                self._drop(member.connection, str(lost))

    def _node_of(self, connection: Connection) -> int | None:
        return next((node for node, member in self._members.items() if member.connection is connection), None)

    def _drop(self, connection: Connection, why: str) -> None:
        self._nonces.pop(connection, None)
        self._listener.drop(connection)
        node = self._node_of(connection)
        if node is not None:
            self._remove(node, why)

    def _remove(self, node: int, why: str) -> None:
        """Takes a machine off the list. If its workers run, the attempt has failed."""
        del self._members[node]
        if node in self.outstanding:
            self._lose_participant(node, why)
        self._events.put(WakeUp())

    def _lose_participant(self, node: int, why: str) -> None:
        self._losses[node] = LostMachine(time.monotonic(), why)
        self._spread_ending("failed", exclude=node)
        self._events.put(EndingElsewhere(self._attempt, "failed"))

    def _show(self, text: str) -> None:
        self._events.put(UserMessage(f"unisono: {text}"))


def _printable(text: str) -> str:
    """What a peer calls itself, for the screen: no control characters, and not much of it."""
    return "".join(character if character.isprintable() else "?" for character in text[:_MAX_HOST_NAME])


@contextlib.contextmanager
def coordinator_server(
    address: str, port: int, requirements: JoinRequirements, events: Events
) -> Iterator[CoordinatorServer]:
    """Listens at the given address of this machine, and at no other that it has; raises :class:`UsageError`."""
    server = CoordinatorServer(_listen(address, port), requirements, events)
    try:
        yield server
    finally:
        server.finish(ExitCode.LAUNCHER, "the launcher of node rank 0 has ended")


def _listen(address: str, port: int) -> socket.socket:
    reasons = []
    try:
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise UsageError(f"--master-addr {address} is no address: {error.strerror or error}.") from None
    for family, _, _, _, endpoint in sorted(found, key=lambda info: info[0] != socket.AF_INET):
        try:
            return socket.create_server(endpoint[:2], family=family, backlog=_BACKLOG)
        except OSError as error:
            reasons.append(error.strerror or str(error))
    raise UsageError(
        f"Node rank 0 cannot listen at {address}, port {port} (the one before --master-port): {reasons[0]}. "
        "--master-addr must be an address of this machine, and the port free: change them, on all machines to the same."
    )
