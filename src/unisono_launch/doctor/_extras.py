"""Optional packages: images, and the viewer TensorBoard."""

from __future__ import annotations

from typing import Final

from unisono_launch.doctor._finding import Finding
from unisono_launch.doctor._requirements import Requirement, installed_version, requirements_of

NAME = "extras"

# `cuda` and `tpu` show in what JAX sees, `test` and `dev` are for working on Unisono.
_EXTRAS: Final = ("images", "tensorboard")


def check_extras() -> Finding:
    """Which extras are there. None of them is needed to train."""
    wanted = requirements_of("unisono") or []
    facts, lines, wrong = {}, [], []
    for extra in _EXTRAS:
        parts = [requirement for requirement in wanted if requirement.extra == extra]
        versions = {part.package: installed_version(part.package) for part in parts}
        facts[extra] = {"installed": bool(parts) and all(versions.values()), "packages": versions}
        lines.append(f"{extra}: {_described(versions) if parts else 'unknown'}")
        if any(_unfit(part) for part in parts):
            wrong.append(extra)
        elif not all(versions.values()):
            lines[-1] += f" (pip install 'unisono[{extra}]')"
    text = "; ".join(lines)
    if wrong:
        remedy = f"pip install --upgrade 'unisono[{','.join(wrong)}]'"
        return Finding(NAME, "warning", f"{text}. Too old: {', '.join(wrong)}.", remedy, facts)
    return Finding(NAME, "ok", text, None, facts)


def _described(versions: dict[str, str | None]) -> str:
    if not any(versions.values()):
        return "not installed"
    return ", ".join(f"{package} {version or 'missing'}" for package, version in versions.items())


def _unfit(part: Requirement) -> bool:
    version = installed_version(part.package)
    return version is not None and not part.allows(version)
