"""How much memory there is for training data."""

from __future__ import annotations

from pathlib import Path

import pytest

from unisono._src.devices._settings import _host_memory


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
def test_the_memory_of_a_container_is_its_limit(tmp_path: Path, name: str) -> None:
    limit = tmp_path / name
    limit.parent.mkdir(exist_ok=True)
    limit.write_text("1048576\n")
    assert _host_memory(tmp_path) == 1 << 20


@pytest.mark.parametrize("text", ["max\n", "9223372036854771712\n", None])
def test_without_a_limit_it_is_that_of_the_machine(tmp_path: Path, text: str | None) -> None:
    machine = _host_memory(tmp_path / "missing")
    if text is not None:
        (tmp_path / "memory.max").write_text(text)
    assert _host_memory(tmp_path) == machine > 1 << 20
