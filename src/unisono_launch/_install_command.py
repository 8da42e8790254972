"""What to type to install or upgrade Unisono, which depends on where this one was installed from.

pip records it in `direct_url.json`: a folder (a clone, usually), a wheel, or a repository. Without that file Unisono
came from a package index, which is asked again by its name.
"""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

_PACKAGE: Final = "unisono"
_CLONE: Final = Path(__file__).resolve().parents[2]


def install_command(*extras: str, upgrade: bool = False) -> str:
    """Installs Unisono with ``extras``, from where it was installed: `pip install 'unisono[cuda]'` from an index.

    Where a folder or a wheel has been removed since, the packages of the extras are named instead.
    """
    options = ["--upgrade"] if upgrade else []
    wanted = f"[{','.join(extras)}]" if extras else ""
    return shlex.join(["pip", "install", *options, *_requirements(wanted, extras)])


def upgrade_command() -> str:
    """Replaces this Unisono by a newer one."""
    origin = _read_origin()
    if origin is None:
        return install_command(upgrade=True)
    folder = _local_path(origin)
    if "vcs_info" in origin:  # of the default branch: a tag or a commit stays what it is
        return shlex.join(["pip", "install", "--upgrade", f"{_PACKAGE} @ {_repository(origin)}"])
    if "dir_info" not in origin or folder is None or not (folder / ".git").exists():
        return "pip install --upgrade PATH_OF_A_NEWER_UNISONO"
    pull = shlex.join(["git", "-C", str(folder), "pull"])
    return pull if _is_editable(origin) else f"{pull} && {install_command()}"


def _requirements(wanted: str, extras: tuple[str, ...]) -> list[str]:
    origin = _read_origin()
    if origin is None:
        return [f"{_PACKAGE}{wanted}"]
    if "vcs_info" in origin:
        revision = origin["vcs_info"].get("requested_revision")
        return [f"{_PACKAGE}{wanted} @ {_repository(origin, revision)}"]
    path = _local_path(origin)
    if path is not None and not path.exists() and extras:
        return _packages_of(extras)
    if "dir_info" in origin and path is not None:
        return [*(["-e"] if _is_editable(origin) else []), f"{path}{wanted}"]
    return [f"{_PACKAGE}{wanted} @ {origin['url']}"]


def _read_origin() -> dict[str, Any] | None:
    """Where Unisono was installed from, as pip records it; None: from an index."""
    try:
        text = metadata.distribution(_PACKAGE).read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # it runs from its folder, and is not installed
        if not (_CLONE / "pyproject.toml").exists():
            return None
        return {"url": _CLONE.as_uri(), "dir_info": {"editable": True}}
    origin: dict[str, Any] | None = json.loads(text) if text else None
    return origin


def _local_path(origin: dict[str, Any]) -> Path | None:
    parts = urlsplit(origin["url"])
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def _is_editable(origin: dict[str, Any]) -> bool:
    return bool(origin["dir_info"].get("editable"))


def _repository(origin: dict[str, Any], revision: str | None = None) -> str:
    at = f"@{revision}" if revision else ""
    folder = f"#subdirectory={origin['subdirectory']}" if "subdirectory" in origin else ""
    return f"{origin['vcs_info']['vcs']}+{origin['url']}{at}{folder}"


def _packages_of(extras: tuple[str, ...]) -> list[str]:
    from packaging.requirements import Requirement  # here: `unisono doctor` says so where it is missing

    packages = []
    for requirement in map(Requirement, metadata.requires(_PACKAGE) or ()):
        marker = requirement.marker
        if marker is None or marker.evaluate({"extra": ""}):
            continue
        if any(marker.evaluate({"extra": extra}) for extra in extras):
            requirement.marker = None
            packages.append(str(requirement))
    return packages
