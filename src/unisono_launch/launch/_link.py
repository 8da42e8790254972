"""A member's connection to the leader of its job, in a thread of its own."""

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
from unisono_launch.launch._admission import SECRET, is_proof, new_nonce, proof
from unisono_launch.launch._attempt import Result
from unisono_launch.launch._events import Crashed, Elsewhere, Events, How, Note, Woken
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
from unisono_launch.launch._reports import report_to_json

_CALLING_SECONDS: Final = 5.0
_BETWEEN_CALLS: Final = 0.25


class _RefusedError(Exception):
    """This machine cannot take part. The text says why."""


@final
class Link:
    """Calls the leader until it answers, hears its orders, and watches that it lives.

    Args:
        place: where the leader listens.
        window: how many seconds to call before giving up.
        secret: of the job; empty if it has none.
        hello: who this is.
        events: how the main thread is woken. It looks up `orders`, `refused` and `gone` then.
    """

    def __init__(
        self, place: tuple[str, int], *, window: float, secret: str, hello: Mapping[str, Any], events: Events
    ) -> None:
        self.orders: queue.SimpleQueue[Message] = queue.SimpleQueue()
        """What the leader wants done: "go" and "over"."""
        self.refused: str | None = None
        """Why this machine cannot take part."""
        self.gone: str | None = None
        """Why the leader is not there any more."""
        self._place = place
        self._window = window
        self._secret = secret
        self._hello = hello
        self._events = events
        self._attempt = -1
        self._connection: Connection | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="unisono-link", daemon=True)
        self._thread.start()

    def say_ending(self, attempt: int, how: How) -> None:
        """A worker here has failed or left, or this launcher was told to end."""
        self._say("ending", attempt=attempt, how=how)

    def say_ended(self, attempt: int, result: Result) -> None:
        """No worker is left here."""
        self._say("ended", attempt=attempt, **report_to_json(result))

    def close(self) -> None:
        """Hangs up, once the leader has had the time to hear what was said."""
        self._closing.set()
        if self._connection is not None:
            self._connection.finish()
        self._thread.join(2 * LEAVING_SECONDS)

    def _say(self, what: str, **content: Any) -> None:
        assert self._connection is not None
        try:
            self._connection.say(what, **content)
        except GoneError as gone:
            self.gone = self.gone or str(gone)

    def _run(self) -> None:
        try:
            self._take_part()
        except _RefusedError as refused:
            self.refused = str(refused)
        except GoneError as gone:
            self.gone = self.gone or str(gone)
            self._events.put(Elsewhere(self._attempt, "failed"))
        except BaseException as error:
            self._events.put(Crashed(error))
        self._events.put(Woken())

    def _take_part(self) -> None:
        called = self._called()
        if called is not None:
            self._connection, messages = called
            with contextlib.closing(self._connection):
                self._listen(self._connection, messages)

    def _called(self) -> tuple[Connection, list[Message]] | None:
        """Calls until the leader takes us in; None if we hang up first."""
        deadline = time.monotonic() + self._window
        reason = "it was not called"
        while not self._closing.is_set():
            left = deadline - time.monotonic()
            if left <= 0:
                raise _RefusedError(
                    f"Nobody leads the job at {join_address(*self._place)} after {self._window:g} s: {reason}. Start "
                    "`unisono run --node-rank 0` there, with the same flags, or wait longer: "
                    f"--join-window {2 * self._window:g}"
                )
            try:
                with contextlib.ExitStack() as opened:
                    patience = min(left, _CALLING_SECONDS)
                    line = opened.enter_context(socket.create_connection(self._place, timeout=patience))
                    connection = Connection(line)
                    messages = self._introduce(connection)
                    opened.pop_all()
                return connection, messages
            except OSError as error:
                reason = error.strerror or str(error)
            except GoneError as gone:
                reason = str(gone)
            self._closing.wait(_BETWEEN_CALLS)
        return None

    def _introduce(self, connection: Connection) -> list[Message]:
        """Says who we are; returns what the leader said after its welcome. Raises :class:`GoneError` if it is busy."""
        challenge, nonce = _heard(connection)[0], new_nonce()
        if challenge["type"] != "challenge" or challenge.get("version") != VERSION:
            raise _RefusedError(
                f"{join_address(*self._place)} does not speak version {VERSION} of Unisono's protocol. "
                "Install the same version of Unisono on all machines."
            )
        theirs = str(challenge.get("nonce"))
        told = proof(self._secret, "member", theirs, nonce) if self._secret else None
        connection.say("hello", **self._hello, nonce=nonce, proof=told)
        answer, *more = _heard(connection)
        if answer["type"] == "refused":
            kind = GoneError if answer.get("again") else _RefusedError
            raise kind(f"the leader of the job says: {answer.get('why')}")
        if self._secret and not is_proof(answer.get("proof"), self._secret, "leader", theirs, nonce):
            raise _RefusedError(
                f"{join_address(*self._place)} does not know {SECRET}. Set it to the same value on all machines."
            )
        connection.trusted = True
        return more

    def _listen(self, connection: Connection, messages: list[Message]) -> None:
        """Hears until we hang up; raises :class:`GoneError` if the leader does."""
        place = join_address(*self._place)
        self._events.put(Note(f"unisono: this machine has come to {place}, and waits for the next attempt."))
        before = spoke = time.monotonic()
        leaving: float | None = None
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            while leaving is None or time.monotonic() < leaving:
                for message in messages:
                    self._understand(message)
                ready = selector.select(timeout=BEAT_SECONDS / 2)
                now = time.monotonic()
                if now - before > SUSPENDED_SECONDS:
                    connection.heard = now
                before = now
                messages = connection.hear() if ready else []
                if now - connection.heard > SILENCE_SECONDS:
                    raise GoneError(f"no sign of life for {SILENCE_SECONDS:g} s")
                if self._closing.is_set():
                    leaving = leaving or now + LEAVING_SECONDS
                elif now - spoke > BEAT_SECONDS:
                    spoke = now
                    connection.say("beat")

    def _understand(self, message: Message) -> None:
        if message["type"] == "end":
            how: How = "failed"
            if message.get("how") in ("preempted", "signalled"):
                how = message["how"]
            self._events.put(Elsewhere(self._attempt, how))
        elif message["type"] in ("go", "over"):
            self._attempt = message.get("attempt", self._attempt)
            self.orders.put(message)
            self._events.put(Woken())


def _heard(connection: Connection) -> list[Message]:
    """Waits for at least one message, as long as a connection waits for anything."""
    while True:
        messages = connection.hear()
        if messages:
            return messages
