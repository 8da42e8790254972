"""Who is there: the workers of a job meet at the chief before JAX starts.

JAX ends a process that waits in vain for the others, without saying for whom. So the chief first listens at the
coordinator's address itself. Everyone calls it until it answers, says who they are, and is told whether all have come.
Nothing but names and small numbers is exchanged, as lines of JSON. And everyone learns which of its addresses the
others can reach.
"""

from __future__ import annotations

import json
import selectors
import socket
import time
from dataclasses import dataclass
from typing import Any, Final

_MOST_BYTES: Final = 65536
_PAUSE_SECONDS: Final = 0.1
_VERSION: Final = 1

MISSING = """{number} of {all} workers did not come within {seconds:.0f} seconds: {missing}.
{present} came to {coordinator}.
Start the missing ones with the same cluster, or look at their logs. CommunicationOptions(timeout_seconds=...) sets how
long to wait."""

NO_CHIEF = """{name} found nobody at {coordinator}, where {chief} should be, for {seconds:.0f} seconds.
Is it running, and can this machine reach it? {reason}"""

TWICE = """Two workers say that they are {name}. Give each its own number: in TF_CONFIG, "task": {{"index": ...}}."""

UNLIKE = """The workers do not fit together: {what} is {here!r} for {name} and {there!r} for {chief}.
All of them have to run the same versions, with the same cluster."""


@dataclass(frozen=True)
class Rendezvous:
    """Where to meet, and who is expected.

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


def wait_for_workers(meeting: Rendezvous, alike: dict[str, Any]) -> str:
    """Waits until all have come; returns the address by which the others reach this machine.

    Args:
        meeting: where and who.
        alike: what must be the same for all of them.
    """
    return _receive(meeting, alike) if meeting.index == 0 else _call(meeting, alike)


def bind_address(coordinator: str) -> str:
    """Where the chief listens: at the address by which it is called, not at all that the machine has.

    Unless that is not the machine's own, as with a load balancer in front of it.
    """
    host, port = _address(coordinator)
    for family, _, _, _, address in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM):
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            try:
                tried.bind(address)
            except OSError:
                continue
        bound = str(address[0])
        return f"[{bound}]:{port}" if ":" in bound else f"{bound}:{port}"
    return f"0.0.0.0:{port}"


def _receive(meeting: Rendezvous, alike: dict[str, Any]) -> str:
    deadline = time.monotonic() + meeting.seconds
    present: dict[int, socket.socket] = {}
    host, port = _address(bind_address(meeting.coordinator))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=len(meeting.names)) as server:
        server.setblocking(False)
        with selectors.DefaultSelector() as selector:
            selector.register(server, selectors.EVENT_READ)
            try:
                while len(present) + 1 < len(meeting.names):
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise TimeoutError(_missing(meeting, present))
                    for _ in selector.select(min(left, 1.0)):
                        caller, _address_of_caller = server.accept()
                        _welcome(meeting, alike, caller, present)
                _tell(present, {"version": _VERSION})
                called_at: str = next(iter(present.values())).getsockname()[0]
                return called_at
            except (TimeoutError, ValueError) as error:
                _tell(present, {"version": _VERSION, "error": type(error).__name__, "message": str(error)})
                raise
            finally:
                for caller in present.values():
                    caller.close()


def _welcome(
    meeting: Rendezvous, alike: dict[str, Any], caller: socket.socket, present: dict[int, socket.socket]
) -> None:
    """Hears who calls. Somebody who is no worker, a port scanner say, is not listened to."""
    caller.settimeout(5.0)
    said = _heard(caller)
    index = said.get("index") if said else None
    if said is None or said.get("version") != _VERSION or not isinstance(index, int):
        caller.close()
        return
    if not 0 < index < len(meeting.names) or index in present:
        caller.close()
        name = meeting.names[index] if 0 <= index < len(meeting.names) else f"number {index}"
        raise ValueError(TWICE.format(name=name))
    present[index] = caller
    for what, there in alike.items():
        here = said.get("alike", {}).get(what)
        if here != there:
            names = {"name": meeting.names[index], "chief": meeting.names[0]}
            raise ValueError(UNLIKE.format(what=what, here=here, there=there, **names))


def _call(meeting: Rendezvous, alike: dict[str, Any]) -> str:
    deadline = time.monotonic() + meeting.seconds
    reason = ""
    while (left := deadline - time.monotonic()) > 0:
        try:
            with socket.create_connection(_address(meeting.coordinator), timeout=min(left, 5.0)) as chief:
                _say(chief, {"version": _VERSION, "index": meeting.index, "alike": alike})
                chief.settimeout(left + 5.0)  # the chief's own limit comes first, and says who is missing
                answer = _heard(chief)
                calling_from: str = chief.getsockname()[0]
        except OSError as error:
            reason, answer = f"The last attempt: {error}.", None
        if answer is not None:
            _understand(answer)
            return calling_from
        time.sleep(_PAUSE_SECONDS)
    names = {"name": meeting.names[meeting.index], "chief": meeting.names[0], "coordinator": meeting.coordinator}
    raise TimeoutError(NO_CHIEF.format(seconds=meeting.seconds, reason=reason, **names))


def _understand(answer: dict[str, Any]) -> None:
    if "error" in answer:
        kind = TimeoutError if answer["error"] == "TimeoutError" else ValueError
        raise kind(answer["message"])


def _missing(meeting: Rendezvous, present: dict[int, socket.socket]) -> str:
    here = [0, *sorted(present)]
    missing = [name for index, name in enumerate(meeting.names) if index not in here]
    return MISSING.format(
        number=len(missing),
        all=len(meeting.names),
        seconds=meeting.seconds,
        missing=", ".join(missing),
        present=", ".join(meeting.names[index] for index in here),
        coordinator=meeting.coordinator,
    )


def _tell(callers: dict[int, socket.socket], message: dict[str, Any]) -> None:
    for caller in callers.values():
        try:
            _say(caller, message)
        except OSError:
            continue  # it has gone; the others must hear it all the same, and JAX will notice who is not there


def _say(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _heard(connection: socket.socket) -> dict[str, Any] | None:
    """One line of JSON; None if the other side says something else, or nothing."""
    received = b""
    while not received.endswith(b"\n") and len(received) < _MOST_BYTES:
        try:
            part = connection.recv(4096)
        except OSError:
            return None
        if not part:
            return None
        received += part
    try:
        message = json.loads(received)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def _address(coordinator: str) -> tuple[str, int]:
    host, _, port = coordinator.rpartition(":")
    return host.strip("[]"), int(port)
