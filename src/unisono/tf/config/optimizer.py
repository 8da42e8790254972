"""`tf.config.optimizer`: accepted. XLA compiles and rewrites all programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unisono.tf._missing import explain_missing_names as _explain_missing_names

_options: dict[str, Any] = {}
_jit: list[Any] = [True]


def set_jit(enabled: Any) -> None:
    """Accepted, without effect: functions are always compiled by XLA."""
    _jit[:] = [enabled]


def get_jit() -> Any:
    """The value that was set; by default True."""
    return _jit[0]


def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Accepted, without effect."""
    _options.update(options)


def get_experimental_options() -> dict[str, Any]:
    """The options that were set."""
    return dict(_options)


__getattr__ = _explain_missing_names("tf.config.optimizer")
