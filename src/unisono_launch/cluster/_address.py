"""Addresses (`host:port`, with brackets around an IPv6 host), and ports that need no agreement."""

from __future__ import annotations

from typing import Final

# Above what Linux gives to outgoing connections (32768 to 60999), so no program holds such a port by chance.
_FIRST_PORT: Final = 61440
_NUM_PORTS: Final = 4096


def split_address(address: str) -> tuple[str, int]:
    """Host and port of `address`; raises `ValueError` if one is missing.

    >>> split_address("node1:2222"), split_address("[fd00::2]:2222")
    (('node1', 2222), ('fd00::2', 2222))
    """
    host, _, port = address.rpartition(":")
    bare = host.removeprefix("[").removesuffix("]")
    if not bare or (":" in bare and bare == host) or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{address!r} is not an address of the form host:port, such as 'node1:2222'.")
    return bare, int(port)


def join_address(host: str, port: int) -> str:
    """The address of `port` on `host`.

    >>> join_address("fd00::2", 2222)
    '[fd00::2]:2222'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def split_host(address: str) -> str:
    """The host of `address`, with or without a port."""
    try:
        return split_address(address)[0]
    except ValueError:
        return address


def derive_port(number: int) -> int:
    """A port that every process of a job derives from the same `number`, and another job most likely does not.

    >>> derive_port(200505)
    65337
    """
    return _FIRST_PORT + number % _NUM_PORTS
