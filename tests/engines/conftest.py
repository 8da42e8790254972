"""Tests on real engines: `make test-engines` runs them, and writes what they record to docs/engines.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.result_rows import append_result_row


class RecordScenario(Protocol):
    """Records the row that a test adds to docs/engines.md."""

    def __call__(self, *, engine: str, scenario: str, result: str) -> None: ...


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine-results", type=Path, help="append a line of JSON for each scenario to this file")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.get_closest_marker("engines") is None:
            raise pytest.UsageError(f"{item.nodeid} is not marked: write pytestmark = pytest.mark.engines in its file.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    append_result_row(item, report, "--engine-results")
    return report


@pytest.fixture
def record_scenario(record_property: Any) -> RecordScenario:
    """Called at the end of a test, when all that it checks was so."""

    def record(*, engine: str, scenario: str, result: str) -> None:
        for name, value in (("engine", engine), ("scenario", scenario), ("result", result)):
            record_property(name, value)

    return record
