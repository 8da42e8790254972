"""Python, JAX, Keras, NumPy and the rest: what is installed, and whether Unisono was written for it."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from unisono_launch.doctor._finding import Finding, Status, worst
from unisono_launch.doctor._requirements import allows, installed_version, is_needed, requirements_of

if TYPE_CHECKING:
    from packaging.requirements import Requirement

NAME = "versions"

_SHOWN: Final = ("unisono", "jax", "jaxlib", "keras", "numpy")

_NOT_INSTALLED = "Unisono runs from a folder here and is not installed, so nothing says which versions it needs."


class _Problem(NamedTuple):
    status: Status
    text: str
    remedy: str


def check_versions() -> Finding:
    """What is installed against what `pyproject.toml` allows, and JAX's own parts against each other."""
    required = [*_required_by_unisono(), *_required_by_jax()]
    problems = [problem for requirement in required if (problem := _find_problem(requirement))]
    problems += _find_python_problem()
    if requirements_of("unisono") is None:
        problems.append(_Problem("warning", _NOT_INSTALLED, "In its folder type: pip install ."))
    packages = _describe_packages(required)
    shown = [f"{name} {packages[name]['version'] or 'missing'}" for name in _SHOWN]
    return Finding(
        NAME,
        worst(problem.status for problem in problems),
        "\n".join([", ".join(shown), *(problem.text for problem in problems)]),
        "\n".join(dict.fromkeys(problem.remedy for problem in problems)) or None,
        {"python": platform.python_version(), "packages": packages},
    )


def _required_by_unisono() -> list[Requirement]:
    return [requirement for requirement in requirements_of("unisono") or [] if is_needed(requirement)]


def _required_by_jax() -> list[Requirement]:
    """JAX's compiled half, and its plugins if they are installed: a plugin of another version is not used."""
    required = {}
    for requirement in requirements_of("jax") or []:
        is_plugin = requirement.name.startswith(("jax-cuda", "jax-rocm"))
        if (is_plugin and installed_version(requirement.name)) or (
            requirement.name == "jaxlib" and is_needed(requirement)
        ):
            required[requirement.name] = requirement
    return list(required.values())


def _find_problem(requirement: Requirement) -> _Problem | None:
    package, version = requirement.name, installed_version(requirement.name)
    wanted = f"{package}{requirement.specifier}"
    remedy = f"pip install '{wanted}'"
    if version is None:
        return _Problem("error", f"{package} is missing; Unisono needs {wanted}.", remedy)
    if allows(requirement, version):
        return None
    if is_needed(requirement):
        return _Problem("error", f"{package} {version} does not fit: {wanted} is needed.", remedy)
    jax = installed_version("jax")
    return _Problem("warning", f"{package} {version} is not used by jax {jax}, which needs {wanted}.", remedy)


def _find_python_problem() -> list[_Problem]:
    from packaging.requirements import Requirement  # here: where it is missing, a finding says so

    try:
        required = Requirement(f"python{metadata.metadata('unisono')['Requires-Python'] or ''}")
    except metadata.PackageNotFoundError:
        return []
    if allows(required, platform.python_version()):
        return []
    text = f"Python {platform.python_version()} does not fit: {required} is needed."
    return [_Problem("error", text, "Make an environment with another Python: python3.12 -m venv .venv")]


def _describe_packages(required: list[Requirement]) -> dict[str, dict[str, Any]]:
    by_name = {requirement.name: requirement for requirement in required}
    packages = {}
    for name in dict.fromkeys([*_SHOWN, *by_name]):
        version, requirement = installed_version(name), by_name.get(name)
        fits = version is not None and (requirement is None or allows(requirement, version))
        needed = str(requirement.specifier) if requirement else None
        packages[name] = {"version": version, "required": needed, "fits": fits}
    return packages
