"""The connection of a joining launcher to the coordinator launcher, in a thread."""

from __future__ import annotations

import contextlib
import queue
import selectors
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any, Final, final

from unisono_launch.cluster import join_address
from unisono_launch.connection import (
    SECRET_VARIABLE,
    Connection,
    Message,
    PeerLostError,
    is_proof,
    make_proof,
    new_nonce,
)
from unisono_launch.launch._attempt import AttemptResult
from unisono_launch.launch._events import EndingElsewhere, EndingReason, Events, ThreadCrashed, UserMessage, WakeUp
from unisono_launch.launch._protocol import (
    BEAT_SECONDS,
    FAREWELL_SECONDS,
    SILENCE_SECONDS,
    SUSPENDED_SECONDS,
    VERSION,
    report_to_json,
)

_HANDSHAKE_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 0.25


class _MachineRefusedError(Exception):
    """This machine cannot take part. The text says why."""


@final
class CoordinatorClient:
    """Connects until the coordinator answers, receives its orders, and watches that it lives.

    Args:
        address: where the coordinator listens.
        window: how many seconds to try before giving up.
        secret: of the job; empty if it has none.
        hello: what this machine says of itself.
        events: how the main thread is woken. It reads `orders`, `refused` and `lost` then.
    """

    def __init__(
        self, address: tuple[str, int], *, window: float, secret: str, hello: Mapping[str, Any], events: Events
    ) -> None:
        self.orders: queue.SimpleQueue[Message] = queue.SimpleQueue()
        """What the coordinator wants done: "go" and "over"."""
        self.refused: str | None = None
        """Why this machine cannot take part."""
        self.lost: str | None = None
        """Why the coordinator is gone."""
        self._address = address
        self._window = window
        self._secret = secret
        self._hello = hello
        self._events = events
        self._attempt = -1
        self._connection: Connection | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unisono-coordinator", daemon=True)
        self._thread.start()

    def report_ending(self, attempt: int, reason: EndingReason) -> None:
        """A worker of this machine has failed or left, or this launcher was asked to stop."""
        self._send("ending", attempt=attempt, how=reason)

    def report_ended(self, attempt: int, result: AttemptResult) -> None:
        """No worker is left on this machine."""
        self._send("ended", attempt=attempt, **report_to_json(result))

    def close(self) -> None:
        """Disconnects, once the coordinator has had the time to read what was sent."""
        self._closing.set()
        if self._connection is not None:
            self._connection.finish_sending()
        self._thread.join(2 * FAREWELL_SECONDS)

    def _send(self, kind: str, **content: Any) -> None:
        assert self._connection is not None
        try:
            self._connection.send({"type": kind, **content})
        except PeerLostError as lost:
            self.lost = self.lost or str(lost)

    def _run(self) -> None:
        try:
            self._connection = self._connect()
            if self._connection is not None:
                with contextlib.closing(self._connection):
                    self._listen(self._connection)
        except _MachineRefusedError as refused:
            self.refused = str(refused)
        except PeerLostError as lost:
            self.lost = self.lost or str(lost)
            self._events.put(EndingElsewhere(self._attempt, "failed"))
        except BaseException as error:
            self._events.put(ThreadCrashed(error))
        self._events.put(WakeUp())

    def _connect(self) -> Connection | None:
        """Tries until the coordinator lets us join; None if we are closed first."""
        deadline = time.monotonic() + self._window
        reason = "no attempt was made"
        while not self._closing.is_set():
            left = deadline - time.monotonic()
            if left <= 0:
                raise _MachineRefusedError(
                    f"The launcher of node rank 0 could not be reached at {join_address(*self._address)} within "
                    f"{self._window:g} s: {reason}. Start `unisono run --node-rank 0` there, with the same flags, or "
                    f"wait longer: --join-window {2 * self._window:g}"
                )
            try:
                with contextlib.ExitStack() as opened:
                    limit = min(left, _HANDSHAKE_SECONDS)
                    connected = opened.enter_context(socket.create_connection(self._address, timeout=limit))
                    connection = Connection(connected)
                    connection.identified = True  # by its address; lists of hosts can be long
                    self._join(connection, time.monotonic() + _HANDSHAKE_SECONDS)
                    opened.pop_all()
                return connection
            except OSError as error:
                reason = error.strerror or str(error)
            except PeerLostError as lost:
                reason = str(lost)
            self._closing.wait(_RETRY_SECONDS)
        return None

    def _join(self, connection: Connection, deadline: float) -> None:
        """The handshake. Raises :class:`PeerLostError` if another try may help, else :class:`_MachineRefusedError`."""
        challenge, nonce = connection.receive_one(deadline), new_nonce()
        if challenge.get("type") != "challenge" or challenge.get("version") != VERSION:
            raise _MachineRefusedError(
                f"{join_address(*self._address)} does not speak version {VERSION} of Unisono's protocol. "
                "Install the same version of Unisono on all machines."
            )
        theirs = str(challenge.get("nonce"))
        proof = make_proof(self._secret, "joining launcher", theirs, nonce)
        connection.send({"type": "hello", **self._hello, "nonce": nonce, "proof": proof})
        answer = connection.receive_one(deadline)
        if answer.get("type") == "refused":
            kind = PeerLostError if answer.get("again") else _MachineRefusedError
            raise kind(f"the launcher of node rank 0 says: {answer.get('why')}")
        if not is_proof(answer.get("proof"), self._secret, "coordinator launcher", theirs, nonce):
            raise _MachineRefusedError(
                f"{join_address(*self._address)} does not know {SECRET_VARIABLE}. Set it to the same value on all "
                "machines."
            )

    def _listen(self, connection: Connection) -> None:
        """Receives until we close; raises :class:`PeerLostError` if the coordinator does."""
        address = join_address(*self._address)
        self._events.put(UserMessage(f"unisono: this machine has joined {address}, and waits for the next attempt."))
        before = beat_sent_at = time.monotonic()
        closes_at: float | None = None
        messages = connection.take_received()
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            while closes_at is None or time.monotonic() < closes_at:
                for message in messages:
                    self._handle(message)
                ready = selector.select(timeout=BEAT_SECONDS / 2)
                now = time.monotonic()
                if now - before > SUSPENDED_SECONDS:
                    connection.last_received = now
                before = now
                messages = connection.receive() if ready else []
                if now - connection.last_received > SILENCE_SECONDS:
                    raise PeerLostError(f"no sign of life for {SILENCE_SECONDS:g} s")
                if self._closing.is_set():
                    closes_at = closes_at or now + FAREWELL_SECONDS
                elif now - beat_sent_at > BEAT_SECONDS:
                    beat_sent_at = now
                    connection.send({"type": "beat"})

    def _handle(self, message: Message) -> None:
        if message.get("type") == "end":
            reason: EndingReason = "failed"
            if message.get("how") in ("preempted", "signalled"):
                reason = message["how"]
            self._events.put(EndingElsewhere(self._attempt, reason))
        elif message.get("type") in ("go", "over"):
            self._attempt = message.get("attempt", self._attempt)
            self.orders.put(message)
            self._events.put(WakeUp())
