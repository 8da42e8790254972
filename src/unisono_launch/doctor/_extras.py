"""Optional packages: images, and the viewer TensorBoard."""

from __future__ import annotations

from typing import Final

from unisono_launch._install_command import install_command
from unisono_launch.doctor._finding import Finding
from unisono_launch.doctor._requirements import allows, installed_version, is_needed, requirements_of

NAME = "extras"

# `cuda` and `tpu` show in what JAX sees, `test` and `dev` are for working on Unisono.
_EXTRAS: Final = ("images", "tensorboard")


def check_extras() -> Finding:
    """Which extras are installed. None of them is needed to train."""
    requirements = requirements_of("unisono") or []
    facts, lines, outdated = {}, [], []
    for extra in _EXTRAS:
        parts = [requirement for requirement in requirements if is_needed(requirement, extra)]
        versions = {part.name: installed_version(part.name) for part in parts}
        facts[extra] = {"installed": bool(parts) and all(versions.values()), "packages": versions}
        lines.append(f"{extra}: {_describe(versions) if parts else 'unknown'}")
        if any(not allows(part, version) for part in parts if (version := versions[part.name])):
            outdated.append(extra)
        elif not all(versions.values()):
            lines[-1] += f" ({install_command(extra)})"
    text = "; ".join(lines)
    if outdated:
        remedy = install_command(*outdated, upgrade=True)
        return Finding(NAME, "warning", f"{text}. Too old: {', '.join(outdated)}.", remedy, facts)
    return Finding(NAME, "ok", text, None, facts)


def _describe(versions: dict[str, str | None]) -> str:
    if not any(versions.values()):
        return "not installed"
    return ", ".join(f"{package} {version or 'missing'}" for package, version in versions.items())
