"""The blocks of docs/trackers.md, which need the trackers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.trackers.conftest import run_python

pytestmark = pytest.mark.trackers

PAGE = Path(__file__).parents[2] / "docs" / "trackers.md"

RUN = """
import sys
from pathlib import Path
from tests.docs.run_page import run_page
print("blocks:", run_page(Path(sys.argv[1]), Path(sys.argv[2]), full=True))
"""


def test_the_blocks_of_the_page_run(mlflow_server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, number = re.subn(r"<!-- not run: needs (mlflow|wandb) -->\n", "", PAGE.read_text(encoding="utf-8"))
    page, folder = tmp_path / "trackers.md", tmp_path / "folder"
    page.write_text(text.replace("http://127.0.0.1:5000", mlflow_server), encoding="utf-8")
    folder.mkdir()
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    assert f"blocks: {number}" in run_python("-c", RUN, str(page), str(folder))
