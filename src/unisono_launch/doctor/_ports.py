"""The addresses of the cluster: can this process listen at its own, and reach the coordinator's?"""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from typing import Any, Final

from unisono_launch.cluster import Membership, split_address
from unisono_launch.doctor._cluster import find_membership
from unisono_launch.doctor._examine import within
from unisono_launch.doctor._finding import Finding, Status

NAME = "ports"

# A name server on the same network answers in milliseconds, and so does a machine there.
_RESOLVE_SECONDS: Final = 5.0
_CONNECT_SECONDS: Final = 3.0

_Address = tuple[Any, ...]  # as the socket module has it: two members for IPv4, four for IPv6


def check_ports(environ: Mapping[str, str]) -> Finding:
    """The chief must be able to listen at the coordinator's address, the others to reach it.

    At the others' own addresses nobody listens. If they cannot, something is wrong with the cluster all the same.
    """
    try:
        found = find_membership(environ)
    except (RuntimeError, ValueError):
        return Finding(NAME, "warning", "Not tried: the cluster cannot be used.", "First mend `cluster`.")
    if found is None or found.coordinator is None:
        return Finding(NAME, "ok", "none needed: this process has nobody to meet")
    if found.is_chief:
        return _own_address(found.coordinator, "error", "where the others come to join,")
    reached = _coordinator(found.coordinator, found.names[0].partition(" at ")[0])
    own = _own(found)
    if own is None or reached.status == "error":
        return reached
    listened = _own_address(own, "warning", "this process's own address,")
    worse = listened if listened.status != "ok" else reached
    facts = {**listened.facts, **reached.facts}
    return Finding(NAME, worse.status, f"{reached.text}\n{listened.text}", worse.remedy, facts)


def _own(found: Membership) -> str | None:
    """This process's address, where the cluster tells: 'worker 1 at host:port'."""
    _, told, address = found.name.rpartition(" at ")
    try:
        split_address(address)
    except ValueError:
        return None
    return address if told else None


def _own_address(address: str, failure: Status, what: str) -> Finding:
    host, port = split_address(address)
    facts: dict[str, Any] = {"own_address": address, "own_address_can_be_bound": False}
    try:
        _bind(_resolved(host, port))
    except OSError as error:
        text = f"{address}, {what} cannot be bound: {error.strerror or error}."
        return Finding(NAME, failure, text, _remedy_for_binding(error, host, port), facts)
    return Finding(NAME, "ok", f"{address}, {what} can be bound", None, facts | {"own_address_can_be_bound": True})


def _coordinator(address: str, chief: str) -> Finding:
    host, port = split_address(address)
    facts: dict[str, Any] = {"coordinator": address, "coordinator_resolves": False, "coordinator_answers": False}
    try:
        places = _resolved(host, port)
        facts["coordinator_resolves"] = True
        _connect(places)
    except ConnectionRefusedError:
        text = f"{host} is reached; nobody listens at port {port} yet, as long as {chief} has not started"
        return Finding(NAME, "ok", text, None, facts)
    except OSError as error:
        text = f"{address}, where {chief} should be, cannot be reached: {error.strerror or error}."
        return Finding(NAME, "error", text, _remedy_for_reaching(facts["coordinator_resolves"], host, port), facts)
    facts["coordinator_answers"] = True
    return Finding(NAME, "ok", f"{address} is reached, and somebody listens there", None, facts)


def _resolved(host: str, port: int) -> list[tuple[int, _Address]]:
    """The places that `host` stands for; raises `OSError` if there are none, or if nobody says so in time."""
    try:
        infos = within(_RESOLVE_SECONDS, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except TimeoutError:
        raise OSError(errno.ETIMEDOUT, f"no answer about the name {host} within {_RESOLVE_SECONDS:g} seconds") from None
    # IPv4 first: that is what the chief binds where it has the choice.
    return sorted(((info[0], info[4]) for info in infos), key=lambda place: place[0] != socket.AF_INET)


def _connect(places: list[tuple[int, _Address]]) -> None:
    """Calls one after the other; raises `OSError` if nobody answers, and "refused" rather than another."""
    errors: list[OSError] = []
    for family, place in places:
        with socket.socket(family) as caller:
            caller.settimeout(_CONNECT_SECONDS)
            try:
                return caller.connect(place)
            except OSError as error:
                errors.append(error)
    raise next((error for error in errors if isinstance(error, ConnectionRefusedError)), errors[0])


def _bind(places: list[tuple[int, _Address]]) -> None:
    """Binds as the chief does, and lets go: nobody could connect meanwhile."""
    family, place = places[0]
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that are ending do not count
        probe.bind(place)


def _remedy_for_binding(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"End what holds the port (ss -ltnp 'sport = :{port}' shows it), or give the cluster another port."
    if error.errno == errno.EACCES:
        return "Give the cluster a port above 1023."
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host} is not this machine. Give this process its own number in the cluster, or start it on {host}."
    return f"Does `getent hosts {host}` know the name? Correct it in the cluster, or write the IP address."


def _remedy_for_reaching(resolves: bool, host: str, port: int) -> str:
    if not resolves:
        return f"Does `getent hosts {host}` know the name? Correct it in the cluster, or write the IP address."
    return f"Is {host} up, can this machine reach it, and does its firewall open port {port}? Try: nc -vz {host} {port}"
