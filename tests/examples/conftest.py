"""Runs scripts of `examples` in this process, on small data, and compares what they print with their docstrings."""

from __future__ import annotations

import ast
import itertools
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.docs.output import differences

EXAMPLES = Path(__file__).parents[2] / "examples"


def shown_output(name: str) -> str:
    """The output in the docstring of an example: the indented lines below the one that begins with "Output"."""
    docstring = ast.get_docstring(ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))) or ""
    _, _, below = docstring.partition("\nOutput")
    lines = below.splitlines()[1:]
    return "\n".join(itertools.takewhile(lambda line: not line or line.startswith("    "), lines))


def assert_printed_as_shown(name: str, printed: str) -> None:
    shown = shown_output(name)
    assert shown.strip(), f"The docstring of examples/{name}.py shows no output."
    missing = differences(_without_digests(shown), _without_digests(printed))
    assert missing is None, f"examples/{name}.py shows, and did not print: {missing}\nIt printed:\n{printed}"


def _without_digests(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{16}\b", "0", text)


@pytest.fixture(scope="session")
def small_datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with 640 digits as MNIST and as Fashion-MNIST."""
    folder = tmp_path_factory.mktemp("datasets")
    with np.load(EXAMPLES / "data" / "mnist.npz") as arrays:
        small = {name: arrays[name][: 512 if name.endswith("train") else 128] for name in arrays}
    for name in ("mnist", "fashion_mnist"):
        np.savez(folder / f"{name}.npz", **small)
    return folder


@pytest.fixture
def run_example(
    small_datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs an example with small datasets in an empty folder; returns what it printed."""
    monkeypatch.setenv("UNISONO_DATASETS", str(small_datasets))
    monkeypatch.chdir(tmp_path)

    def run(name: str, *arguments: str) -> str:
        path = str(EXAMPLES / f"{name}.py")
        monkeypatch.setattr(sys, "argv", [path, *arguments])
        runpy.run_path(path, run_name="__main__")
        return capsys.readouterr().out

    return run
