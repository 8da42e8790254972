"""Keras's backend, as the environment and Keras's own file name it; without importing Keras."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from unisono_launch.doctor._finding import Finding

NAME = "backend"


def check_backend(environ: Mapping[str, str]) -> Finding:
    """`KERAS_BACKEND` decides. Without it Unisono chooses JAX, whatever the file says."""
    variable = environ.get("KERAS_BACKEND") or None
    # Not Path.home(), which raises for a user without a home.
    path = Path(environ.get("KERAS_HOME") or os.path.expanduser("~/.keras"), "keras.json")
    in_file = _read_backend(path)
    facts = {"variable": variable, "file": str(path), "in_file": in_file}
    if variable not in (None, "jax"):
        text = f"KERAS_BACKEND is {variable!r}. Unisono trains on JAX and refuses to be imported."
        return Finding(NAME, "error", text, "unset KERAS_BACKEND   # or: export KERAS_BACKEND=jax", facts)
    if variable == "jax":
        return Finding(NAME, "ok", "jax, by KERAS_BACKEND", None, facts)
    text = "jax, which Unisono selects if it is imported before keras"
    if in_file not in (None, "jax"):
        text += f"; keras.json says {in_file!r}, which is used only if keras is imported first"
    return Finding(NAME, "ok", text, None, facts)


def _read_backend(path: Path) -> str | None:
    """What `keras.json` says; None if it says nothing. Keras, too, ignores a file that is not JSON."""
    try:
        config = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    backend = config.get("backend") if isinstance(config, dict) else None
    return backend if isinstance(backend, str) else None
