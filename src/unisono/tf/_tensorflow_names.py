"""The names that TensorFlow has, from the list in `_tensorflow_names.txt`, for messages about missing ones."""

from __future__ import annotations

import functools
import importlib.resources
from typing import Final

_FILE: Final = "_tensorflow_names.txt"


def is_tensorflow_name(name: str) -> bool:
    """Whether TensorFlow 2.21 has the name.

    >>> is_tensorflow_name("tf.math.betainc"), is_tensorflow_name("tf.math.beta_inc")
    (True, False)
    """
    return name in _load_names()[0]


def is_tensorflow_module(name: str) -> bool:
    """Whether TensorFlow 2.21 has a module of this name.

    >>> is_tensorflow_module("tf"), is_tensorflow_module("tf.data"), is_tensorflow_module("tf.data.Dataset")
    (True, True, False)
    """
    return name in _load_names()[2]


def is_tensorflow_1_name(name: str) -> bool:
    """Whether only `tf.compat.v1` has the name.

    >>> is_tensorflow_1_name("tf.placeholder"), is_tensorflow_1_name("tf.function")
    (True, False)
    """
    return name in _load_names()[1]


def find_tensorflow_2_name(name: str) -> str | None:
    """The TensorFlow 2 name of a TensorFlow 1 name; None if it has not moved.

    >>> find_tensorflow_2_name("tf.log")
    'tf.math.log'
    """
    return _load_names()[1].get(name)


@functools.cache
def _load_names() -> tuple[frozenset[str], dict[str, str | None], frozenset[str]]:
    """The names of TensorFlow 2; names of TensorFlow 1 alone, each with its new name; the modules of TensorFlow 2."""
    new: set[str] = set()
    modules: set[str] = set()
    old: dict[str, str | None] = {}
    text = importlib.resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    for line in text.splitlines():
        module, _, names = line.partition(": ")
        if line.startswith("#"):
            continue
        if not module.startswith("v1 "):
            modules.add(module)
            new.update(f"{module}.{name}" for name in names.split())
            continue
        for name in names.split():
            before, _, after = name.partition("=")
            old[f"{module.removeprefix('v1 ')}.{before}"] = after or None
    return frozenset(new), old, frozenset(modules)
