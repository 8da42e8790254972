"""Which versions an installed package asks for, read from its metadata.

`packaging` would do it better, but it comes with Keras, which may be what is missing.
"""

from __future__ import annotations

import re
from importlib import metadata
from typing import NamedTuple

_REQUIREMENT = re.compile(r"(?P<package>[\w.-]+)(\[[^]]*\])?\s*\(?(?P<conditions>[^;)]*)\)?\s*(;(?P<marker>.*))?")
_EXTRA = re.compile(r"\s*extra\s*==\s*['\"](?P<extra>[\w.-]+)['\"]\s*")
_CONDITION = re.compile(r"\s*(?P<operator>[<>=!~]=?)\s*(?P<version>[\w.*+!-]+)\s*")


class Requirement(NamedTuple):
    """What a package asks of another.

    >>> read_requirement("jax<0.13,>=0.10.2").allows("0.12.0.1")
    True
    """

    package: str
    conditions: str
    """As pip understands them: "<0.13,>=0.10.2"; empty: any version."""
    extra: str | None = None
    """Only those who install this extra need it."""

    def __str__(self) -> str:
        return f"{self.package}{self.conditions}"

    def allows(self, version: str) -> bool:
        """Whether a package of this version will do. Pre-releases count as the release."""
        conditions = filter(None, self.conditions.split(","))
        return all(_meets(version, condition) for condition in conditions)


def read_requirement(text: str) -> Requirement | None:
    """Reads one line of metadata; None if it depends on more than an extra, such as the operating system."""
    match = _REQUIREMENT.fullmatch(text.strip())
    if match is None:
        return None
    extra = None
    if match["marker"]:
        marker = _EXTRA.fullmatch(match["marker"])
        if marker is None:
            return None
        extra = marker["extra"]
    return Requirement(match["package"], match["conditions"].replace(" ", ""), extra)


def requirements_of(package: str) -> list[Requirement] | None:
    """What the installed `package` asks for; None if it is not installed."""
    try:
        lines = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return None
    return [found for line in lines if (found := read_requirement(line))]


def installed_version(package: str) -> str | None:
    """The version of `package`; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _meets(version: str, condition: str) -> bool:
    match = _CONDITION.fullmatch(condition)
    if match is None:
        return True  # a form that pip knows and this does not: no ground to complain
    operator, bound = match["operator"], match["version"]
    if bound.endswith(".*"):
        prefix = _numbers(bound)
        return (_numbers(version)[: len(prefix)] == prefix) == (operator == "==")
    length = max(len(_numbers(version)), len(_numbers(bound)))
    here, there = _padded(_numbers(version), length), _padded(_numbers(bound), length)
    if operator == "~=":
        return here >= there and here[: len(_numbers(bound)) - 1] == _numbers(bound)[:-1]
    return {
        "<": here < there,
        "<=": here <= there,
        ">": here > there,
        ">=": here >= there,
        "==": here == there,
        "!=": here != there,
    }.get(operator, True)


def _numbers(version: str) -> tuple[int, ...]:
    """The release part of a version: '0.12.0.1.dev3' gives (0, 12, 0, 1)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match.group().split(".")) if match else ()


def _padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    return numbers + (0,) * (length - len(numbers))
