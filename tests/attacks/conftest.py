"""The file that results are written to, from which page.py makes docs/attacks.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.result_rows import append_result_row


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-results", type=Path, help="append a line of JSON for each attack to this file")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    append_result_row(item, report, "--attack-results")
    return report
