"""Which versions of JAX and Keras this Unisono was written for, checked before either is imported."""

from __future__ import annotations

import re
from importlib import metadata
from typing import Final

# (package, first version that works, first version nobody has tried, the requirement to type)
_SUPPORTED: Final = (
    ("jax", (0, 10, 2), (0, 13), "jax>=0.10.2,<0.13"),
    # 3.15.1 closes the last known ways in which loading a file could run code.
    ("keras", (3, 15, 1), (4,), "keras>=3.15.1,<4"),
)


def check_versions() -> None:
    """Raises ``ImportError`` when JAX or Keras is missing or outside the supported range."""
    for package, first, beyond, requirement in _SUPPORTED:
        try:
            found = metadata.version(package)
        except metadata.PackageNotFoundError:
            raise ImportError(
                f"Unisono needs {package}, which is not installed. Type: pip install '{requirement}'"
            ) from None
        if not first <= _numbers(found) < beyond:
            raise ImportError(
                f"This Unisono works with {requirement}; found {package} {found}. Type: pip install '{requirement}'"
            )


def _numbers(version: str) -> tuple[int, ...]:
    """The release part of a version: '0.12.0.1.dev3' gives (0, 12, 0, 1)."""
    match = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in match.group().split(".")) if match else ()
