"""How fast devices exchange data: interconnects by name, by a number, or as measured here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from unisono._src.planning._collectives import Collective
from unisono._src.planning._interpolation import interpolate_devices

# Of the nominal rate; what a ring of large messages reaches.
_EFFICIENCY: Final = 0.8

# Nominal bytes per second of one device in one direction, and seconds per message.
INTERCONNECTS: Final[dict[str, tuple[float, float]]] = {
    "nvlink3": (300e9, 3e-6),
    "nvlink4": (450e9, 3e-6),
    "nvlink5": (900e9, 3e-6),
    "pcie3": (15.75e9, 10e-6),
    "pcie4": (31.5e9, 10e-6),
    "pcie5": (63e9, 10e-6),
    "infiniband-hdr": (25e9, 5e-6),
    "infiniband-ndr": (50e9, 5e-6),
    "infiniband-xdr": (100e9, 5e-6),
    "10gbe": (1.25e9, 30e-6),
    "25gbe": (3.125e9, 30e-6),
    "100gbe": (12.5e9, 30e-6),
    "200gbe": (25e9, 30e-6),
    "400gbe": (50e9, 30e-6),
}

# A small "b" is a bit: 100Gbps is what a network is sold as.
_RATE: Final = re.compile(r"(\d+(?:\.\d+)?(?:e\d+)?)\s*(?:([kmgt]?)(b|bytes?|bits?)(?:/s|ps)?)?", re.IGNORECASE)
_PREFIXES: Final = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}

UNKNOWN = """--bandwidth {name}: no such interconnect. Write one of {names}; or a rate, as in 25GB/s or 200Gbit/s; or
"measure" for the devices here, "measure-processes" for processes on this machine."""

WRONG_LATENCY = "--latency {microseconds:g}: write the microseconds that a message takes, 0 or more, as in --latency 5."


class Exchange(Protocol):
    """A model of how long collectives take."""

    @property
    def description(self) -> str:
        """What it is, for the reader."""

    def seconds(self, collectives: Sequence[Collective], num_devices: int) -> float:
        """How long these take on so many devices, one after the other."""


@dataclass(frozen=True)
class Ring:
    """A ring of devices with equal links. One after the other, and not while devices compute: an upper bound.

    Attributes:
        name: of the interconnect.
        bandwidth: bytes per second of one device in one direction, as reached.
        latency: seconds per message.
    """

    name: str
    bandwidth: float
    latency: float

    @property
    def description(self) -> str:
        return f"{self.name}: {self.bandwidth / 1e9:.3g} GB/s and {self.latency * 1e6:.3g} µs per message"

    def seconds(self, collectives: Sequence[Collective], num_devices: int) -> float:
        if num_devices == 1:
            return 0.0
        return sum(
            each.bytes_sent(num_devices) / self.bandwidth + each.num_messages(num_devices) * self.latency
            for each in collectives
        )


@dataclass(frozen=True)
class Measured:
    """The collectives of this step, timed on this machine for some numbers of devices.

    Between those, and beyond, the time follows a line through the two nearest.
    """

    what: str
    seconds_by_devices: Mapping[int, float]

    @property
    def description(self) -> str:
        found = ", ".join(f"{seconds * 1e3:.2f} ms on {number}" for number, seconds in self.seconds_by_devices.items())
        return f"measured on this machine, {self.what}: {found}"

    def seconds(self, collectives: Sequence[Collective], num_devices: int) -> float:
        del collectives  # those that were timed
        return 0.0 if num_devices == 1 else interpolate_devices(self.seconds_by_devices, num_devices)


def parse_bandwidth(text: str, latency: float | None = None) -> Ring:
    """The interconnect of this name, or with this rate."""
    if latency is not None and not 0 <= latency < math.inf:
        raise ValueError(WRONG_LATENCY.format(microseconds=latency * 1e6))
    if text in INTERCONNECTS:
        nominal, usual = INTERCONNECTS[text]
        return Ring(text, _EFFICIENCY * nominal, usual if latency is None else latency)
    match = _RATE.fullmatch(text.strip())
    if match is None or float(match[1]) <= 0:
        raise ValueError(UNKNOWN.format(name=text, names=", ".join(INTERCONNECTS)))
    unit = match[3] or "B"
    is_bits = unit == "b" or unit.lower().startswith("bit")
    rate = float(match[1]) * _PREFIXES[(match[2] or "").lower()] / (8 if is_bits else 1)
    return Ring("given", rate, 5e-6 if latency is None else latency)
