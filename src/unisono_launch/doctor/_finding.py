"""What a check found, and how numbers are written in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Status = Literal["ok", "warning", "error"]

_ORDER: Final[tuple[Status, ...]] = ("ok", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    >>> Finding("ports", "error", "Port 2222 is taken.", "End what holds it: ss -ltnp 'sport = :2222'").status
    'error'
    """

    name: str
    """The name of the check."""
    status: Status
    """"error": training would fail. "warning": it would not, and the user should know all the same."""
    text: str
    """What was found, in words. Lines after the first are details."""
    remedy: str | None = None
    """What to do or to type. Every finding that is not "ok" has one."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What was found, for programs: everything in it can be written as JSON."""

    def __post_init__(self) -> None:
        if self.status != "ok" and not self.remedy:
            raise ValueError(f"The finding {self.name!r} is a {self.status} without a remedy. Say what to type.")


def worst(statuses: Iterable[Status]) -> Status:
    """The worst of `statuses`.

    >>> worst(["ok", "warning", "ok"]), worst([])
    ('warning', 'ok')
    """
    return max(statuses, key=_ORDER.index, default="ok")


def format_gigabytes(num_bytes: int) -> str:
    """A size in GB of 10⁹ bytes.

    >>> format_gigabytes(8_318_000_000), format_gigabytes(143_000_000_000)
    ('8.3 GB', '143 GB')
    """
    gigabytes = num_bytes / 1e9
    return f"{gigabytes:.0f} GB" if gigabytes >= 100 else f"{gigabytes:.1f} GB"


def format_count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> format_count(1, "device"), format_count(8, "GPU")
    ('1 device', '8 GPUs')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
