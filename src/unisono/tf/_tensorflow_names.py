"""Which names TensorFlow has, for what is said of those that are not there. The list is `_tensorflow_names.txt`."""

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
    return name in _names()[0]


def is_tensorflow_module(name: str) -> bool:
    """Whether it is a module of TensorFlow 2.21, of which all names are known here.

    >>> is_tensorflow_module("tf"), is_tensorflow_module("tf.data"), is_tensorflow_module("tf.data.Dataset")
    (True, True, False)
    """
    return name in _names()[2]


def is_tensorflow_1_name(name: str) -> bool:
    """Whether `tf.compat.v1` has the name, and TensorFlow 2 has it no more.

    >>> is_tensorflow_1_name("tf.placeholder"), is_tensorflow_1_name("tf.function")
    (True, False)
    """
    return name in _names()[1]


def find_tensorflow_2_name(name: str) -> str | None:
    """Where TensorFlow 2 has what TensorFlow 1 called so.

    >>> find_tensorflow_2_name("tf.log")
    'tf.math.log'
    """
    return _names()[1].get(name)


@functools.cache
def _names() -> tuple[frozenset[str], dict[str, str | None], frozenset[str]]:
    """The names of TensorFlow 2; those of TensorFlow 1 alone, with the new ones; the modules of TensorFlow 2."""
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
