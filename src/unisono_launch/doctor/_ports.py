"""The addresses of the cluster: whether this process can listen at its own, and reach the coordinator's."""

from __future__ import annotations

import errno
import socket
from collections.abc import Mapping
from typing import Any, Final

from unisono_launch.cluster import Membership, split_address
from unisono_launch.doctor._cluster import find_membership
from unisono_launch.doctor._finding import Finding, Status
from unisono_launch.doctor._run_check import call_with_timeout

NAME = "ports"

# A name server on the same network answers in milliseconds, and so does a machine there.
_RESOLVE_SECONDS: Final = 5.0
_CONNECT_SECONDS: Final = 3.0

_Address = tuple[Any, ...]  # as the socket module has it: two members for IPv4, four for IPv6


def check_ports(environ: Mapping[str, str]) -> Finding:
    """The chief must be able to listen at the coordinator's address, the other workers to reach it.

    No worker but the chief listens at its own address. If it cannot, something is wrong with the cluster all the same.
    """
    try:
        found = find_membership(environ)
    except (RuntimeError, ValueError):
        return Finding(NAME, "warning", "Not tried: the cluster cannot be used.", "First fix `cluster`.")
    if found is None or found.coordinator is None:
        return Finding(NAME, "ok", "none needed: this process is alone")
    if found.is_chief:
        return _check_own_address(found.coordinator, "error", "where the other workers join,")
    reached = _check_coordinator(found.coordinator, found.names[0].partition(" at ")[0])
    own = _find_own_address(found)
    if own is None or reached.status == "error":
        return reached
    listened = _check_own_address(own, "warning", "this process's own address,")
    worse = listened if listened.status != "ok" else reached
    facts = {**listened.facts, **reached.facts}
    return Finding(NAME, worse.status, f"{reached.text}\n{listened.text}", worse.remedy, facts)


def _find_own_address(found: Membership) -> str | None:
    """This process's address, where the cluster names it: 'worker 1 at host:port'."""
    _, separator, address = found.name.rpartition(" at ")
    try:
        split_address(address)
    except ValueError:
        return None
    return address if separator else None


def _check_own_address(address: str, failure: Status, what: str) -> Finding:
    host, port = split_address(address)
    facts: dict[str, Any] = {"own_address": address, "own_address_can_be_bound": False}
    try:
        _bind(_resolve(host, port))
    except OSError as error:
        text = f"{address}, {what} cannot be bound: {error.strerror or error}."
        return Finding(NAME, failure, text, _remedy_for_binding(error, host, port), facts)
    return Finding(NAME, "ok", f"{address}, {what} can be bound", None, facts | {"own_address_can_be_bound": True})


def _check_coordinator(address: str, chief: str) -> Finding:
    host, port = split_address(address)
    facts: dict[str, Any] = {"coordinator": address, "coordinator_resolves": False, "coordinator_answers": False}
    try:
        endpoints = _resolve(host, port)
        facts["coordinator_resolves"] = True
        _connect(endpoints)
    except ConnectionRefusedError:
        text = f"{host} is reached; nothing listens at port {port} yet, as long as {chief} has not started"
        return Finding(NAME, "ok", text, None, facts)
    except OSError as error:
        text = f"{address}, where {chief} should be, cannot be reached: {error.strerror or error}."
        return Finding(NAME, "error", text, _remedy_for_reaching(facts["coordinator_resolves"], host, port), facts)
    facts["coordinator_answers"] = True
    return Finding(NAME, "ok", f"{address} is reached, and something listens there", None, facts)


def _resolve(host: str, port: int) -> list[tuple[int, _Address]]:
    """The addresses of `host`; raises `OSError` if there are none, or if no name server answers in time."""
    try:
        infos = call_with_timeout(_RESOLVE_SECONDS, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except TimeoutError:
        raise OSError(errno.ETIMEDOUT, f"no answer about the name {host} within {_RESOLVE_SECONDS:g} seconds") from None
    # IPv4 first: that is what the chief binds where it has the choice.
    return sorted(((info[0], info[4]) for info in infos), key=lambda endpoint: endpoint[0] != socket.AF_INET)


def _connect(endpoints: list[tuple[int, _Address]]) -> None:
    """Tries one after the other; raises `OSError` if none answers, and "refused" rather than another."""
    errors: list[OSError] = []
    for family, endpoint in endpoints:
        with socket.socket(family) as caller:
            caller.settimeout(_CONNECT_SECONDS)
            try:
                return caller.connect(endpoint)
            except OSError as error:
                errors.append(error)
    raise next((error for error in errors if isinstance(error, ConnectionRefusedError)), errors[0])


def _bind(endpoints: list[tuple[int, _Address]]) -> None:
    """Binds as the chief does, and closes at once: no peer could connect meanwhile."""
    family, endpoint = endpoints[0]
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that are ending do not count
        probe.bind(endpoint)


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
