"""Names of `tf.compat.v1` that mean the same in TensorFlow 1 and 2, looked up in the TensorFlow 2 namespace."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from typing import Any

from unisono._src.data.files import message_class
from unisono.tf._missing import explain_missing_names
from unisono.tf._tensorflow_names import find_tensorflow_2_name


def names_from_tf2(
    v1_module: str, tf2_module: str, except_for: Collection[str] = (), messages: Collection[str] = ()
) -> Callable[[str], Any]:
    """Returns a `__getattr__` that takes names from ``tf2_module``, and those that TensorFlow 2 moved from elsewhere.

    Args:
        v1_module: the module as users write it, for error messages: "tf.compat.v1.data".
        tf2_module: the Python module that has the names.
        except_for: names that mean something else in TensorFlow 1; they are reported as missing.
        messages: names of protobuf classes of event files, which are imported on first use.
    """
    missing = explain_missing_names(v1_module, depth=2)
    plain = v1_module.replace("tf.compat.v1", "tf")

    def get_name(name: str) -> Any:
        if name in messages:
            return message_class(name)
        if name in except_for:
            return missing(name)
        # From vars(), not getattr(): an AttributeError of tf2_module would name that module instead of v1_module.
        members = vars(importlib.import_module(tf2_module))
        if name in members:
            return members[name]
        moved = _get_moved_name(f"{plain}.{name}")
        return missing(name) if moved is None else moved

    return get_name


def _get_moved_name(name: str) -> Any:
    """What TensorFlow 2 has under another name, as "tf.log" is "tf.math.log"; None if it has not moved."""
    new_name = find_tensorflow_2_name(name)
    module, _, last = ("" if new_name is None else f"unisono.{new_name}").rpartition(".")
    if not module:
        return None
    try:
        return vars(importlib.import_module(module)).get(last)
    except ModuleNotFoundError:  # a module that is missing here, too
        return None
