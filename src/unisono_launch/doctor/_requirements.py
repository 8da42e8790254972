"""Which versions an installed package asks for, read from its metadata."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from packaging.requirements import Requirement


def requirements_of(package: str) -> list[Requirement] | None:
    """What the installed `package` asks for, with and without extras; None if it is not installed."""
    from packaging.requirements import Requirement  # here: where it is missing, a finding says so

    try:
        lines = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return None
    return [Requirement(line) for line in lines]


def is_needed(requirement: Requirement, extra: str | None = None) -> bool:
    """Whether it is needed on this machine: by all users, or, if `extra` is given, by those of this extra alone."""
    by_all = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    if extra is None or requirement.marker is None:
        return by_all and extra is None
    return not by_all and requirement.marker.evaluate({"extra": extra})


def allows(requirement: Requirement, version: str) -> bool:
    """Whether a package of this version meets the requirement. Pre-releases count as the release."""
    from packaging.version import Version

    return requirement.specifier.contains(Version(version).base_version)


def installed_version(package: str) -> str | None:
    """The version of `package`; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
