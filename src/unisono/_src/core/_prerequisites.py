"""What must hold before Keras is imported: supported versions of JAX and Keras, and JAX as Keras's backend."""

from __future__ import annotations

import os
import sys
from importlib import metadata
from typing import Final

from packaging.version import Version

from unisono._src.core._environment import read_environment

# 3.15.1 closes the last known ways in which loading a file could run code. keras_hooks patches Keras's internals, and
# the next minor version moves some of them.
# Pairs of versions, not a specifier: Keras has imported packaging.version, while the parser of specifiers takes as long
# to import as 40 modules of ours.
_SUPPORTED: Final = {"jax": ("0.10.2", "0.13"), "keras": ("3.15.1", "3.16")}

WINDOWS: Final = """Unisono runs on Linux and macOS, not on Windows itself: its checkpoints and its launcher need POSIX.
Use it in the Windows Subsystem for Linux: https://learn.microsoft.com/windows/wsl/install"""

WRONG_BACKEND: Final = """Unisono trains Keras models on JAX, but {where} says {backend!r}.
Remove that setting, or put this before the first import of keras:
    import os
    os.environ["KERAS_BACKEND"] = "jax"
    import unisono
In a notebook, restart the kernel first: Keras keeps the backend with which it was imported."""


def check_versions() -> None:
    """Raises ``ImportError`` when JAX or Keras is missing or outside the supported range, and on Windows."""
    if os.name == "nt":
        raise ImportError(WINDOWS)
    for name, (lowest, too_high) in _SUPPORTED.items():
        text = f"{name}>={lowest},<{too_high}"
        try:
            found = Version(metadata.version(name))
        except metadata.PackageNotFoundError:
            raise ImportError(f"Unisono needs {name}, which is not installed. Type: pip install '{text}'") from None
        # Of a pre-release the version that it leads to counts above: 0.13.0rc1 is not below 0.13.
        if found < Version(lowest) or Version(found.base_version) >= Version(too_high):
            raise ImportError(f"This Unisono works with {text}; found {name} {found}. Type: pip install '{text}'")


def choose_jax_backend() -> None:
    """Selects JAX as Keras's backend when none is chosen yet; raises ``ImportError`` when another one is."""
    chosen = read_environment().keras_backend
    if chosen not in (None, "jax"):
        raise ImportError(WRONG_BACKEND.format(where="KERAS_BACKEND", backend=chosen))
    if "keras" not in sys.modules:
        # ~/.keras/keras.json does not count: Keras writes it by itself, with "tensorflow" in it.
        os.environ["KERAS_BACKEND"] = "jax"
