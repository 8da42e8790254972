"""Where the launcher of node rank 0 meets those of the other machines: who is here, and what they say.

A thread of its own talks to all of them, so that one that is silent, slow or a stranger holds up nobody. What it learns
is looked up by the main thread, which is woken by events.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from unisono_launch.launch._admission import SECRET, Terms, new_nonce, proof
from unisono_launch.launch._events import Crashed, Elsewhere, Events, How, Note, Woken
from unisono_launch.launch._options import UsageError
from unisono_launch.launch._protocol import (
    BEAT_SECONDS,
    LEAVING_SECONDS,
    SILENCE_SECONDS,
    SUSPENDED_SECONDS,
    VERSION,
    Connection,
    GoneError,
    Message,
)
from unisono_launch.launch._reports import Report, report_from_json
from unisono_launch.worker import ExitCode

_HELLO_SECONDS: Final = 5.0  # a stranger has so long to say who it is
_MOST_STRANGERS: Final = 64


@dataclass(frozen=True)
class Loss:
    """A machine whose launcher went away during an attempt."""

    at: float
    why: str


class _Guest:
    """A connection, and who is at its other end once that is known."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.nonce = new_nonce()
        self.since = time.monotonic()  # it came, or was last told that we live
        self.node: int | None = None
        self.host = ""
        self.leaving = False


@final
class Meeting:
    """Machines that have come, by node rank. All public methods are for the main thread."""

    def __init__(self, server: socket.socket, terms: Terms, events: Events) -> None:
        self.known: dict[int, str] = {}
        """The host of every machine that has ever been here."""
        self._server = server
        self._terms = terms
        self._events = events
        self._lock = threading.RLock()
        self._strangers: list[_Guest] = []
        self._members: dict[int, _Guest] = {}
        self._attempt = -1
        self._group: frozenset[int] = frozenset()
        self._reports: dict[int, Report] = {}
        self._losses: dict[int, Loss] = {}
        self._ending_since: float | None = None
        self._refused: set[str] = set()
        self._closing: float | None = None
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for waker in (server, self._wake_reader):
            waker.setblocking(False)
            self._selector.register(waker, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="unisono-meeting", daemon=True)
        self._thread.start()

    @property
    def present(self) -> dict[int, str]:
        """Who is here now: node ranks and hosts."""
        with self._lock:
            return {node: guest.host for node, guest in sorted(self._members.items())}

    @property
    def outstanding(self) -> set[int]:
        """Whose workers may still run."""
        with self._lock:
            return set(self._group) - self._reports.keys() - self._losses.keys()

    @property
    def reports(self) -> dict[int, Report]:
        """How the attempt ended on the machines that have told."""
        with self._lock:
            return dict(self._reports)

    @property
    def losses(self) -> dict[int, Loss]:
        """Machines that were lost during the attempt."""
        with self._lock:
            return dict(self._losses)

    @property
    def ending_since(self) -> float | None:
        """When all were told to end the attempt; None if they were not."""
        with self._lock:
            return self._ending_since

    def begin(self, attempt: int, why: str, hosts: Mapping[int, str], ports: tuple[int, ...]) -> None:
        """Starts an attempt on the machines in `hosts`, which take the ranks of their order."""
        with self._lock:
            self._attempt, self._group = attempt, frozenset(hosts) - {0}
            self._reports, self._losses, self._ending_since = {}, {}, None
            plan = {"attempt": attempt, "why": why, "hosts": list(hosts.values()), "ports": list(ports)}
            for rank, node in enumerate(hosts):
                if node in self._members:
                    self._say(node, "go", rank=rank, **plan)
                elif node in self._group:  # it was there when the group was chosen
                    self._lose(node, "its launcher left before the attempt began")

    def end(self, how: How) -> None:
        """Lets all machines end the attempt."""
        with self._lock:
            self._spread(how, but=None)

    def expel(self, node: int, code: int, why: str) -> None:
        """Does without a machine from now on."""
        with self._lock:
            self._say(node, "over", code=code, why=f"the job goes on without this machine: {why}")
            guest = self._members.get(node)
            if guest is not None:
                self._forget(guest, why)
                # Closed at once, it might take away the last message unread. So it stays until the other side hangs up.
                guest.connection.finish()
                guest.leaving, guest.since = True, time.monotonic()
                self._strangers.append(guest)

    def dismiss(self, code: int, why: str) -> None:
        """The job is over: lets all know, and waits until they have heard it, but not for long."""
        with self._lock:
            if self._closing is not None:
                return
            self._group = frozenset()
            for node in tuple(self._members):
                self._say(node, "over", code=code, why=f"the job has ended on all machines: {why}")
            for guest in self._members.values():
                guest.connection.finish()
            self._closing = time.monotonic() + LEAVING_SECONDS
            self._wake_writer.send(b"\0")
        self._thread.join(2 * LEAVING_SECONDS)
        for guest in (*self._strangers, *self._members.values()):
            guest.connection.close()
        for used in (self._selector, self._server, self._wake_reader, self._wake_writer):
            used.close()

    def _run(self) -> None:
        try:
            before = time.monotonic()
            while not self._is_over():
                ready = self._selector.select(timeout=BEAT_SECONDS / 2)
                with self._lock:
                    for key, _ in ready:
                        if key.fileobj is self._server:
                            self._accept()
                        elif key.fileobj is self._wake_reader:
                            self._wake_reader.recv(1)
                        elif isinstance(key.data, _Guest):
                            self._listen(key.data)
                    now = time.monotonic()
                    self._keep_time(now, suspended=now - before > SUSPENDED_SECONDS)
                    before = now
        except BaseException as error:
            self._events.put(Crashed(error))

    def _is_over(self) -> bool:
        with self._lock:
            return self._closing is not None and (not self._members or time.monotonic() > self._closing)

    def _keep_time(self, now: float, *, suspended: bool) -> None:
        """Lets the others know that we live, and drops those of whom we do not know it."""
        for guest in tuple(self._strangers):
            if now - guest.since > _HELLO_SECONDS:
                self._drop(guest, "it did not say who it is")
        for node, guest in tuple(self._members.items()):
            if suspended:
                guest.connection.heard = now
            if now - guest.connection.heard > SILENCE_SECONDS:
                self._drop(guest, f"no sign of life for {SILENCE_SECONDS:g} s")
            elif now - guest.since > BEAT_SECONDS:
                guest.since = now
                self._say(node, "beat")

    def _accept(self) -> None:
        try:
            opened, _ = self._server.accept()
        except OSError:  # it hung up before we answered
            return
        guest = _Guest(Connection(opened))
        if len(self._strangers) >= _MOST_STRANGERS or self._closing is not None:
            guest.connection.close()
            return
        self._strangers.append(guest)
        self._selector.register(guest.connection, selectors.EVENT_READ, guest)
        with self._dropped_if_gone(guest):
            guest.connection.say("challenge", version=VERSION, nonce=guest.nonce)

    def _listen(self, guest: _Guest) -> None:
        with self._dropped_if_gone(guest):
            for message in guest.connection.hear():
                if guest.node is None:
                    self._greet(guest, message)
                elif not guest.leaving:
                    self._understand(guest.node, message)

    def _greet(self, guest: _Guest, message: Message) -> None:
        """Lets a stranger in, or tells why not."""
        node, again = message.get("node"), False
        if self._terms.knows_secret(message, guest.nonce):
            why = self._terms.objection(message)
        else:
            why = f"{SECRET} is not that of the job. Set it to the same value on all machines."
            self._note_refusal(guest.connection.peer)
        if why is None and node in self._members:  # it may be half-open still, after its machine was switched off
            why, again = f"--node-rank {node} is taken by {self._members[node].host}. Give each its own.", True
        if why is not None:
            guest.connection.say("refused", why=why, again=again)
            guest.connection.finish()
            raise GoneError(why)
        self._admit(guest, message)

    def _admit(self, guest: _Guest, hello: Message) -> None:
        secret = self._terms.secret
        told = proof(secret, "leader", guest.nonce, hello["nonce"]) if secret else None
        guest.connection.say("welcome", proof=told)
        guest.connection.trusted = True
        guest.node, guest.host = hello["node"], str(hello.get("host"))
        self._strangers.remove(guest)
        self._members[hello["node"]] = guest
        self.known[hello["node"]] = guest.host
        self._events.put(Woken())
        if self._attempt >= 0:
            self._note(f"machine {guest.node} ({guest.host}) has come, and takes part from the next attempt on.")

    def _note_refusal(self, peer: str) -> None:
        """Once for each address, and not for too many: whoever calls must not be able to fill the screen."""
        if peer not in self._refused and len(self._refused) < _MOST_STRANGERS:
            self._refused.add(peer)
            self._note(f"somebody at {peer} was refused: {SECRET} is not set there, or is another.")

    def _understand(self, node: int, message: Message) -> None:
        current = node in self._group and message.get("attempt") == self._attempt
        if message["type"] == "ending" and current:
            # A machine that was told to end takes its workers along. Those of the others may leave by themselves.
            how: How = "failed" if message.get("how") == "failed" else "preempted"
            self._spread(how, but=node)
            self._events.put(Elsewhere(self._attempt, how))
        elif message["type"] == "ended" and current:
            try:
                self._reports[node] = report_from_json(message)
            except ValueError as error:
                raise GoneError(f"it does not speak our language: {error}") from None
            self._events.put(Woken())

    def _spread(self, how: How, *, but: int | None) -> None:
        if self._ending_since is None:
            self._ending_since = time.monotonic()
        for node in self.outstanding - {but}:
            self._say(node, "end", attempt=self._attempt, how=how)

    def _say(self, node: int, what: str, **content: Any) -> None:
        guest = self._members.get(node)
        if guest is not None:
            with self._dropped_if_gone(guest):
                guest.connection.say(what, **content)

    @contextlib.contextmanager
    def _dropped_if_gone(self, guest: _Guest) -> Iterator[None]:
        try:
            yield
        except GoneError as gone:
            self._drop(guest, str(gone))

    def _drop(self, guest: _Guest, why: str) -> None:
        with contextlib.suppress(KeyError, ValueError):  # dropped before
            self._selector.unregister(guest.connection)
        guest.connection.close()
        if guest in self._strangers:
            self._strangers.remove(guest)
        self._forget(guest, why)

    def _forget(self, guest: _Guest, why: str) -> None:
        """Takes a member off the list. If its workers run, the attempt has failed."""
        node = guest.node
        if node is None or self._members.get(node) is not guest:
            return
        del self._members[node]
        if node in self.outstanding:
            self._lose(node, why)
        self._events.put(Woken())

    def _lose(self, node: int, why: str) -> None:
        self._losses[node] = Loss(time.monotonic(), why)
        self._spread("failed", but=node)
        self._events.put(Elsewhere(self._attempt, "failed"))

    def _note(self, text: str) -> None:
        self._events.put(Note(f"unisono: {text}"))


@contextlib.contextmanager
def meeting_at(address: str, port: int, terms: Terms, events: Events) -> Iterator[Meeting]:
    """A meeting at the given address of this machine, and at no other that it has; raises :class:`UsageError`."""
    meeting = Meeting(_listening(address, port), terms, events)
    try:
        yield meeting
    finally:
        meeting.dismiss(ExitCode.LAUNCHER, "the launcher of node rank 0 has ended")


def _listening(address: str, port: int) -> socket.socket:
    reasons = []
    with _readable(address):
        found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    for family, _, _, _, place in sorted(found, key=lambda info: info[0] != socket.AF_INET):
        try:
            return socket.create_server(place[:2], family=family, backlog=_MOST_STRANGERS)
        except OSError as error:
            reasons.append(error.strerror or str(error))
    raise UsageError(
        f"Node rank 0 cannot listen at {address}, port {port} (the one before --master-port): {reasons[0]}. "
        "--master-addr must be an address of this machine, and the port free: name others, on all machines the same."
    )


@contextlib.contextmanager
def _readable(address: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"--master-addr {address} is no address: {error.strerror or error}.") from None
