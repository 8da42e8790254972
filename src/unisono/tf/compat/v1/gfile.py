"""`tf.compat.v1.gfile`: `tf.io.gfile`, and TensorFlow 1's spellings of its functions."""

from __future__ import annotations

import importlib
from typing import Any

_NEW_NAMES = {
    "Copy": "copy",
    "DeleteRecursively": "rmtree",
    "Exists": "exists",
    "FastGFile": "GFile",
    "Glob": "glob",
    "IsDirectory": "isdir",
    "ListDirectory": "listdir",
    "MakeDirs": "makedirs",
    "MkDir": "mkdir",
    "Open": "GFile",
    "Remove": "remove",
    "Rename": "rename",
    "Stat": "stat",
    "Walk": "walk",
}


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("unisono.tf.io.gfile"), _NEW_NAMES.get(name, name))
