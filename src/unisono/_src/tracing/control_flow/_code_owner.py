"""Whose code it is: user code is converted when it is called, that of installed packages never."""

from __future__ import annotations

import functools
import importlib.util
import sysconfig
from pathlib import Path
from types import CodeType
from typing import Final

_PACKAGES: Final = ("jax", "jaxlib", "keras", "numpy")
_FOLDERS: Final = frozenset({"site-packages", "dist-packages"})
_UNISONO_FOLDER: Final = str(Path(__file__).parents[3]) + "/"


def is_user_code(code: CodeType) -> bool:
    """Whether it is in none of the folders of Python and of installed packages."""
    return _is_user_file(code.co_filename)


def is_unisono_code(code: CodeType) -> bool:
    """Whether it is a part of Unisono."""
    return code.co_filename.startswith(_UNISONO_FOLDER)


@functools.cache
def _is_user_file(file: str) -> bool:
    if file.startswith("<frozen ") or _FOLDERS & set(Path(file).parts):
        return False
    return not file.startswith(_library_folders())


@functools.cache
def _library_folders() -> tuple[str, ...]:
    """The folders of Python itself, and of packages that may be installed from a checkout."""
    folders = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
    for package in _PACKAGES:
        found = importlib.util.find_spec(package)
        folders += (found and found.submodule_search_locations) or []
    return (_UNISONO_FOLDER, *(str(Path(folder)) + "/" for folder in folders))
