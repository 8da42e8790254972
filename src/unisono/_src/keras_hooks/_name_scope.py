"""The names of the scopes around a piece of code.

Checked against Keras 3.15.1: `current_path` joins the names of all `keras.name_scope`s in force.
"""

from __future__ import annotations

from keras.src.backend.common.name_scope import current_path


def current_name_scope() -> str:
    """The names of all `keras.name_scope`s in force, joined by slashes; "" outside of all."""
    return str(current_path() or "")
