"""`tf.compat.v2`: the same names as `tf`."""

from __future__ import annotations

import importlib
from typing import Any


def __getattr__(name: str) -> Any:
    return getattr(importlib.import_module("unisono.tf"), name)
