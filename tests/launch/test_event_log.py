"""`events.jsonl`, as the launcher of the first machine writes it."""

import json
import os
from pathlib import Path

import pytest

from unisono_launch.launch._event_log import EventLog


def read_events(folder: Path) -> list[str]:
    found = []
    for line in (folder / "events.jsonl").read_text().splitlines():
        try:
            found.append(json.loads(line)["event"])
        except ValueError:
            found.append("half a line")
    return found


def test_an_event_after_half_a_line_is_a_line_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text('{"version": 1, "ti')
    log = EventLog(tmp_path, enabled=True, warn=pytest.fail)
    log.add("attempt", attempt=1)
    log.add("end", code=0)
    assert read_events(tmp_path) == ["half a line", "attempt", "end"]


def test_an_event_that_a_full_disk_cuts_is_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    log = EventLog(tmp_path, enabled=True, warn=warnings.append)
    log.add("attempt", attempt=0)
    write = os.write
    with monkeypatch.context() as full_disk:
        full_disk.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:5]))
        log.add("failed", attempt=0)
    log.add("end", code=1)
    assert read_events(tmp_path) == ["attempt", "half a line"]
    (warning,) = warnings
    assert "No space left on device" in warning
    assert "The job continues." in warning


def test_other_machines_write_nothing(tmp_path: Path) -> None:
    EventLog(tmp_path, enabled=False, warn=pytest.fail).add("end", code=0)
    assert not list(tmp_path.iterdir())
