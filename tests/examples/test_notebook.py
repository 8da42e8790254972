"""The notebook runs in a kernel, and shows what is saved in it, with other numbers."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.output import differences

from .notebook import PATH, execute_notebook, printed_text, read_notebook, shown_images


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client", "ignore::DeprecationWarning:zmq")
def test_the_notebook_shows_what_is_saved_in_it(
    small_datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(small_datasets))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.delenv("UNISONO_CPU_DEVICES")  # two, as the notebook sets them
    for saved, executed in zip(read_notebook().cells, execute_notebook(str(tmp_path)).cells, strict=True):
        assert differences(printed_text(saved), printed_text(executed)) is None, executed["source"]
        charts = shown_images(executed)
        assert len(charts) == len(shown_images(saved))
        for chart in charts:
            assert ElementTree.fromstring(chart).tag.endswith("svg")


def test_jupyter_and_colab_know_its_kernel_and_its_name() -> None:
    metadata = read_notebook().metadata
    assert metadata.kernelspec.name == "python3"  # Colab has no other
    assert metadata.colab.name == PATH.name
