"""Rows of the tables that tests write: one line of JSON for each test, from which a page of the docs is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def append_result_row(item: pytest.Item, report: pytest.TestReport, option: str) -> None:
    """Appends what the test recorded with `record_property`, and its outcome, to the file that ``option`` names."""
    path: Path | None = item.config.getoption(option, default=None)
    row = dict(item.user_properties)
    if path is not None and row and (report.when == "call" or report.failed):
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "a") as file:
            file.write(json.dumps(row | {"outcome": report.outcome}) + "\n")
