"""`tf.compat.v1.app`: starts a script that has flags, as `absl.app` does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from absl import app as _absl_app

from unisono.tf._missing import explain_missing_names as _explain_missing_names
from unisono.tf.compat.v1 import flags


def run(main: Callable[[list[str]], Any] | None = None, argv: list[str] | None = None) -> None:
    """Parses the flags, calls ``main`` with the other arguments, and ends the process. Unknown flags are passed on."""
    chosen = vars(sys.modules["__main__"])["main"] if main is None else main
    _absl_app.run(chosen, argv, flags_parser=_parse_known_flags)


def _parse_known_flags(arguments: list[str]) -> list[str]:
    parsed: list[str] = flags.FLAGS(arguments, known_only=True)
    return parsed


__getattr__ = _explain_missing_names("tf.compat.v1.app")
