"""Functions of users in datasets: their control flow may look at tensors, and on the host they see tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

from unisono._src.tracing import control_flow
from unisono.tf.data._tensors import as_state, presented


def prepared(function: Any) -> Callable[..., Any]:
    """What datasets call in place of ``function``."""
    if not callable(function):
        return cast(Callable[..., Any], function)  # refused by whoever gets it, with its own words
    converted = control_flow.convert(function)

    def called(*arguments: Any) -> Any:
        return as_state(converted(*presented(arguments)))

    functools.update_wrapper(called, function)
    called.__name__ = getattr(function, "__name__", type(function).__name__)
    return called
