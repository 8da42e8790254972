"""A switch for the whole process: functions run as plain Python, to be looked at."""

from __future__ import annotations

_eagerly = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes every `unisono.function` run as plain Python, line by line; False undoes it.

    >>> import unisono
    >>> double = unisono.function(lambda x: print("called") or 2 * x)
    >>> unisono.run_functions_eagerly(True)
    >>> double(1), double(1)
    called
    called
    (2, 2)
    >>> unisono.run_functions_eagerly(False)
    """
    global _eagerly
    _eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """What :func:`run_functions_eagerly` said last."""
    return _eagerly
