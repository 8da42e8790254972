"""The file that results are written to, from which page.py makes docs/attacks.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--attack-results", type=Path, help="append a line of JSON for each attack to this file")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    path = item.config.getoption("--attack-results", default=None)
    row = dict(item.user_properties)
    if path is not None and row and (report.when == "call" or report.failed):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a") as file:
            file.write(json.dumps(row | {"outcome": report.outcome}) + "\n")
    return report
