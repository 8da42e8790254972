"""`tf.timestamp`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from unisono._src import jax_hooks
from unisono.tf._tensors import to_host_tensor

INSIDE = """tf.timestamp() inside a compiled function: numbers have 32 bits there, too few for seconds since 1970.
Take the time before and after the call of the function."""


def timestamp(name: str | None = None) -> Any:
    """The seconds since 1970, as a tensor of 64 bits on the host. Not inside compiled functions."""
    if not jax_hooks.is_evaluating():
        raise NotImplementedError(INSIDE)
    return to_host_tensor(np.float64(time.time()))
