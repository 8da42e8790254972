"""The errors of a job with parameter servers. The namespace `tf` replaces them by TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from unisono._src.core import Override


class ClosureCancelledError(Exception):
    """The function never ran: one that was scheduled before it failed."""


def _unavailable(text: str) -> ConnectionError:
    return ConnectionError(text)


unavailable_error: Final[Override[Callable[[str], Exception]]] = Override(_unavailable)
"""Makes the error of a job that has lost a parameter server, or has no worker left, from its text."""

cancelled_error: Final[Override[Callable[[str], Exception]]] = Override(ClosureCancelledError)
"""Makes the error of a function that was cancelled, from its text."""
