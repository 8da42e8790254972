"""Runs a check so that it can neither crash nor hang the doctor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from unisono_launch.doctor._finding import Finding

_T = TypeVar("_T")

_SECONDS: Final = 15.0

_REPORT = "This is a fault of `unisono doctor`, or of the machine. Report it with the output of: unisono doctor --json"


def run_check(name: str, check: Callable[[], Finding], seconds: float = _SECONDS) -> Finding:
    """What `check` finds. One that raises, or takes longer than `seconds`, is an error of that name."""
    try:
        return call_with_timeout(seconds, check)
    except TimeoutError as error:
        return Finding(name, "error", f"The check was given up: {error}.", "Is a disk or a name server not answering?")
    except ModuleNotFoundError as error:
        return Finding(name, "error", f"The check needs {error.name}, which is missing.", f"pip install {error.name}")
    except Exception as error:
        return Finding(name, "error", f"The check crashed: {type(error).__name__}: {error}", _REPORT)


def call_with_timeout(seconds: float, function: Callable[[], _T]) -> _T:
    """What `function` returns or raises; `TimeoutError` if it takes longer.

    It continues in a thread that is not waited for: access to a dead network disk cannot be interrupted.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, name="unisono-doctor", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"it did not end within {seconds:g} seconds")
    return results[0]
