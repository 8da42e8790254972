"""The table of hooks and their tests, filled by the decorator `covers` when the test modules are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_F = TypeVar("_F", bound=Callable[..., object])

TESTS: dict[str, list[str]] = {}
"""The tests of each hook, as pytest names them: "tests/…/test_core_hooks.py::test_…" by "Layer.__call__"."""


def covers(*targets: str) -> Callable[[_F], _F]:
    """Says of a test which hooks would make it fail if they were not there; disabled_hooks.py checks it."""

    def note(test: _F) -> _F:
        path = test.__module__.replace(".", "/")
        for target in targets:
            TESTS.setdefault(target, []).append(f"{path}.py::{test.__name__}")
        return test

    return note
