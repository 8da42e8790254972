"""Functions that `strategy.run` calls may decide by tensors with `if` and `while`, inside of a tf.function or not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from unisono._src.strategy import Strategy
from unisono._src.tracing import control_flow

_AS_THEY_ARE: Final = ("keras", "unisono")  # what they decide, they decide for programs


def convert_runs() -> None:
    """From now on `run` converts, also outside of functions: on several replicas it is a compiled program there too."""
    kind: Any = Strategy
    plain = kind.run

    @functools.wraps(plain)
    def run(self: Strategy, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        return plain(self, _converted(fn), args, kwargs, options)

    kind.run = run


def _converted(function: Callable[..., Any]) -> Any:
    package = (getattr(function, "__module__", None) or "").partition(".")[0]
    return function if package in _AS_THEY_ARE else control_flow.convert(function)
