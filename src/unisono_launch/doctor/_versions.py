"""Python, JAX, Keras, NumPy and the rest: what is installed, and whether it is what Unisono was written for."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Any, Final, NamedTuple

from unisono_launch.doctor._finding import Finding, Status, worst
from unisono_launch.doctor._requirements import Requirement, installed_version, requirements_of

NAME = "versions"

_SHOWN: Final = ("unisono", "jax", "jaxlib", "keras", "numpy")

_NOT_INSTALLED = "Unisono runs from a folder here and is not installed, so nothing says which versions it needs."


class _Complaint(NamedTuple):
    status: Status
    text: str
    remedy: str


def check_versions() -> Finding:
    """What is installed against what `pyproject.toml` allows, and JAX's own parts against each other."""
    wanted = [*_wanted_by_unisono(), *_wanted_by_jax()]
    complaints = [complaint for requirement in wanted if (complaint := _complaint(requirement))]
    complaints += _about_python()
    if requirements_of("unisono") is None:
        complaints.append(_Complaint("warning", _NOT_INSTALLED, "In its folder type: pip install ."))
    packages = _packages(wanted)
    shown = [f"{name} {packages[name]['version'] or 'missing'}" for name in _SHOWN]
    return Finding(
        NAME,
        worst(complaint.status for complaint in complaints),
        "\n".join([", ".join(shown), *(complaint.text for complaint in complaints)]),
        "\n".join(dict.fromkeys(complaint.remedy for complaint in complaints)) or None,
        {"python": platform.python_version(), "packages": packages},
    )


def _wanted_by_unisono() -> list[Requirement]:
    return [requirement for requirement in requirements_of("unisono") or [] if requirement.extra is None]


def _wanted_by_jax() -> list[Requirement]:
    """JAX's compiled half, and its plugins if they are there: a plugin of another version is not used."""
    wanted = {}
    for requirement in requirements_of("jax") or []:
        is_plugin = requirement.package.startswith(("jax-cuda", "jax-rocm"))
        if is_plugin and installed_version(requirement.package):
            wanted[requirement.package] = requirement
        elif requirement.package == "jaxlib" and requirement.extra is None:
            wanted["jaxlib"] = requirement
    return list(wanted.values())


def _complaint(requirement: Requirement) -> _Complaint | None:
    package, version = requirement.package, installed_version(requirement.package)
    remedy = f"pip install '{requirement._replace(extra=None)}'"
    if version is None:
        return _Complaint("error", f"{package} is missing; Unisono needs {requirement}.", remedy)
    if requirement.allows(version):
        return None
    if requirement.extra is None:
        return _Complaint("error", f"{package} {version} does not fit: {requirement} is needed.", remedy)
    jax = installed_version("jax")
    return _Complaint("warning", f"{package} {version} is not used by jax {jax}, which needs {requirement}.", remedy)


def _about_python() -> list[_Complaint]:
    try:
        wanted = Requirement("python", metadata.metadata("unisono")["Requires-Python"] or "")
    except metadata.PackageNotFoundError:
        return []
    if wanted.allows(platform.python_version()):
        return []
    text = f"Python {platform.python_version()} does not fit: {wanted} is needed."
    return [_Complaint("error", text, "Make an environment of another Python: python3.12 -m venv .venv")]


def _packages(wanted: list[Requirement]) -> dict[str, dict[str, Any]]:
    required = {requirement.package: requirement for requirement in wanted}
    packages = {}
    for name in dict.fromkeys([*_SHOWN, *required]):
        version, requirement = installed_version(name), required.get(name)
        fits = version is not None and (requirement is None or requirement.allows(version))
        needed = requirement.conditions if requirement else None
        packages[name] = {"version": version, "required": needed, "fits": fits}
    return packages
