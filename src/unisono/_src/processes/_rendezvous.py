"""The rendezvous of a job's workers at the chief, before JAX starts.

JAX ends a process that waits in vain for its peers, without saying for which. So the chief first listens at the
coordinator's address itself. Every other worker connects until the chief answers, sends its index, and hears whether
all have connected. Each also learns by which of its addresses its peers reach it.

    chief                                      worker
    challenge: nonce                    ──>
                                        <──    hello: index, alike, nonce, proof
    welcome: proof                      ──>                                        when all have connected
    error: error, message               ──>                                        the job ends on all workers
    refused: why, again                 ──>                                        the chief continues to wait

Anyone who reaches the port can connect. If the job has a secret (`UNISONO_JOB_SECRET`), only a worker that proves to
know it can take a place or end the job by an error. Without one, a peer that does not fit is refused, and the chief
waits on: it may be a stranger. The workers' connections inside JAX are not authenticated in any case.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import sys
import time
from dataclasses import dataclass
from typing import Any, Final

from unisono_launch.cluster import join_address, split_address
from unisono_launch.connection import (
    SECRET_VARIABLE,
    Connection,
    Listener,
    Lost,
    Message,
    Opened,
    PeerLostError,
    Received,
    is_proof,
    make_proof,
    new_nonce,
)

_VERSION: Final = 2
_BACKLOG: Final = 128
_MAX_REFUSALS: Final = 16  # that are shown: strangers must not be able to fill the screen
_CONNECT_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.1

MISSING = """{number} of {all} workers did not connect within {seconds:.0f} seconds: {missing}.
{present} connected to {coordinator}.{refusals}
Start the missing ones with the same cluster, or look at their logs. CommunicationOptions(timeout_seconds=...) sets how
long to wait."""

NO_CHIEF = """{name} could not reach {coordinator}, the address of {chief}, for {seconds:.0f} seconds.
Is it running, and can this machine reach it? {reason}"""

DUPLICATE = (
    """Two workers say that they are {name}. Give each its own number: in TF_CONFIG, "task": {{"index": ...}}."""
)

MISMATCH = """The workers do not fit together: {what} is {here!r} for {name} and {there!r} for {chief}.
All of them have to run the same versions, with the same cluster."""

NO_SUCH_WORKER = """A worker says that it is number {index}, and there are {count}, counted from 0."""

OTHER_SECRET = f"""{SECRET_VARIABLE} is not that of {{chief}}. Set it to the same value for all workers of the job."""

NO_PROOF = f"""{{coordinator}} does not know {SECRET_VARIABLE}. Set it to the same value for all workers of the job."""

OTHER_PROTOCOL = """{coordinator} does not speak version {version} of Unisono's protocol. Install the same version of
Unisono on all machines, and look whether another program listens at that port."""

REFUSED = """unisono: a process at {host} was refused, and the chief waits on: {why}"""

PORT_IN_USE = """Port {port} of this machine, where worker 0 at {address} waits for the others, is in use by another
program, perhaps by a worker of an earlier job. `ss -ltnp | grep {port}` shows it. End it, or give all workers another
port in TF_CONFIG; `unisono run` finds a free one by itself."""


@dataclass(frozen=True)
class Rendezvous:
    """Where the workers find each other, and which are expected.

    Attributes:
        coordinator: "host:port" of the chief.
        index: which worker this is; 0 is the chief.
        names: what errors call each of them.
        seconds: how long to wait.
        secret: of the job; empty if it has none.
    """

    coordinator: str
    index: int
    names: tuple[str, ...]
    seconds: float
    secret: str = ""


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


class _MisfitError(Exception):
    """A peer cannot be the worker that it says it is. The text says why."""


@dataclass(frozen=True)
class _ConnectedWorker:
    """A worker that has connected, and the chief's proof for it."""

    connection: Connection
    proof: str | None


class _Chief:
    """The chief's side: the workers that have connected so far."""

    def __init__(self, rendezvous: Rendezvous, must_match: dict[str, Any]) -> None:
        self._rendezvous = rendezvous
        self._must_match = must_match
        self._challenges: dict[Connection, str] = {}
        self._workers: dict[int, _ConnectedWorker] = {}
        self._refusals: dict[str, str] = {}

    def wait(self) -> str:
        """Waits for all workers, and tells them the result; raises what it tells them if there is an error."""
        host, port = split_address(bind_address(self._rendezvous.coordinator))
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        backlog = max(_BACKLOG, len(self._rendezvous.names))
        try:
            server = socket.create_server((host, port), family=family, backlog=backlog)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise OSError(error.errno, PORT_IN_USE.format(port=port, address=self._rendezvous.coordinator)) from None
        with contextlib.closing(Listener(server)) as listener:
            try:
                self._wait_for_all(listener)
            except (TimeoutError, ValueError) as error:
                self._tell_all({"type": "error", "error": type(error).__name__, "message": str(error)})
                raise
            own_host = next(iter(self._workers.values())).connection.own_host
            self._tell_all({"type": "welcome"})
            return own_host

    def _wait_for_all(self, listener: Listener) -> None:
        deadline = time.monotonic() + self._rendezvous.seconds
        while len(self._workers) + 1 < len(self._rendezvous.names):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(self._describe_missing())
            for event in listener.events(listener.wait(min(left, 1.0))):
                self._handle(listener, event)

    def _handle(self, listener: Listener, event: Opened | Received | Lost) -> None:
        connection = event.connection
        if isinstance(event, Lost):  # a worker may connect again after a restart
            self._challenges.pop(connection, None)
            self._workers = {i: worker for i, worker in self._workers.items() if worker.connection is not connection}
        elif isinstance(event, Opened):
            self._challenges[connection] = new_nonce()
            try:
                connection.send({"type": "challenge", "version": _VERSION, "nonce": self._challenges[connection]})
            except PeerLostError:
                del self._challenges[connection]
                listener.drop(connection)
        elif connection in self._challenges:  # else it has said all that it has to say
            self._answer_hello(listener, connection, event.message)

    def _answer_hello(self, listener: Listener, connection: Connection, hello: Message) -> None:
        """Counts a worker, or says why not. Raises `ValueError` if one that knows the secret does not fit."""
        challenge, secret = self._challenges.pop(connection), self._rendezvous.secret
        index, theirs, nonce = hello.get("index"), hello.get("alike"), hello.get("nonce")
        if hello.get("version") != _VERSION or not isinstance(index, int) or not isinstance(theirs, dict):
            listener.drop(connection)  # a scanner, or another program
            return
        if not is_proof(hello.get("proof"), secret, "worker", challenge, nonce):
            why = OTHER_SECRET.format(chief=self._rendezvous.names[0])
            self._refuse(listener, connection, why, again=False)
            return
        try:
            self._check_fit(index, theirs)
        except _MisfitError as misfit:
            # A worker that was started again may find its own connection, half-open still.
            self._refuse(listener, connection, str(misfit), again=not secret and index in self._workers)
            if secret:
                raise ValueError(str(misfit)) from None
            return
        listener.identify(connection)
        self._workers[index] = _ConnectedWorker(connection, make_proof(secret, "chief", challenge, str(nonce)))

    def _check_fit(self, index: int, theirs: dict[str, Any]) -> None:
        names = self._rendezvous.names
        if not 0 <= index < len(names):
            raise _MisfitError(NO_SUCH_WORKER.format(index=index, count=len(names)))
        if index == 0 or index in self._workers:
            raise _MisfitError(DUPLICATE.format(name=names[index]))
        for what, ours in self._must_match.items():
            if theirs.get(what) != ours:
                found = {"here": theirs.get(what), "there": ours}
                raise _MisfitError(MISMATCH.format(what=what, name=names[index], chief=names[0], **found))

    def _refuse(self, listener: Listener, connection: Connection, why: str, *, again: bool) -> None:
        """The peer hears why; the user too, once for each address."""
        host = connection.peer_host
        if host not in self._refusals and len(self._refusals) < _MAX_REFUSALS:
            # What a peer has sent may be in it: no control characters.
            self._refusals[host] = "".join(each if each.isprintable() or each == "\n" else "?" for each in why)
            print(REFUSED.format(host=host, why=self._refusals[host]), file=sys.stderr, flush=True)
        with contextlib.suppress(PeerLostError):  # it need not listen
            connection.send({"type": "refused", "why": why, "again": again})
        listener.let_leave(connection)

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
            refusals="".join(f"\nA process at {host} was refused: {why}" for host, why in self._refusals.items()),
        )

    def _tell_all(self, message: Message) -> None:
        for worker in self._workers.values():
            # One that is gone must not keep the rest from hearing it; JAX will notice that it is missing.
            with contextlib.suppress(PeerLostError):
                worker.connection.send({**message, "proof": worker.proof})
                worker.connection.finish_sending()


def _connect_to_chief(rendezvous: Rendezvous, must_match: dict[str, Any]) -> str:
    deadline = time.monotonic() + rendezvous.seconds
    reason = ""
    while (left := deadline - time.monotonic()) > 0:
        try:
            address = split_address(rendezvous.coordinator)
            opened = socket.create_connection(address, timeout=min(left, _CONNECT_SECONDS))
            with contextlib.closing(Connection(opened)) as chief:
                chief.identified = True  # its errors name all workers, which can be many
                answer = _ask_to_join(chief, rendezvous, must_match, deadline)
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


def _ask_to_join(chief: Connection, rendezvous: Rendezvous, must_match: dict[str, Any], deadline: float) -> Message:
    """The chief's last word. Raises :class:`PeerLostError` if another attempt may help, else `ValueError`."""
    secret, nonce = rendezvous.secret, new_nonce()
    challenge = chief.receive_one(min(deadline, time.monotonic() + _CONNECT_SECONDS))
    if challenge.get("type") != "challenge" or challenge.get("version") != _VERSION:
        raise ValueError(OTHER_PROTOCOL.format(coordinator=rendezvous.coordinator, version=_VERSION))
    theirs = str(challenge.get("nonce"))
    proof = make_proof(secret, "worker", theirs, nonce)
    hello = {"version": _VERSION, "index": rendezvous.index, "alike": must_match, "nonce": nonce, "proof": proof}
    chief.send({"type": "hello", **hello})
    # The chief's own limit comes first, and says which are missing.
    answer = chief.receive_one(deadline + _CONNECT_SECONDS)
    if answer.get("type") == "refused":
        raise (PeerLostError if answer.get("again") else ValueError)(str(answer.get("why")))
    if not is_proof(answer.get("proof"), secret, "chief", theirs, nonce):
        raise ValueError(NO_PROOF.format(coordinator=rendezvous.coordinator))
    return answer


def _raise_error(answer: Message) -> None:
    if "error" in answer:
        kind = TimeoutError if answer["error"] == "TimeoutError" else ValueError
        raise kind(str(answer.get("message")))
