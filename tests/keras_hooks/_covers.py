"""The table of hooks and their tests, filled by the decorator `covers` when the test modules are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_F = TypeVar("_F", bound=Callable[..., object])

TESTS: dict[str, str] = {}
"""The name of a test by what it covers: "Layer.__call__", "loss.scale_loss_for_distribution"."""


def covers(*targets: str) -> Callable[[_F], _F]:
    """Says of a test which hooks would make it fail if they were not there."""

    def note(test: _F) -> _F:
        TESTS.update(dict.fromkeys(targets, test.__name__))
        return test

    return note
