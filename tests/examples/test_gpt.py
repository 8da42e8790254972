"""The GPT of `examples/gpt.py`: divided among devices and on one device it has the same losses."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from .conftest import assert_printed_as_shown

SCRIPT = Path(__file__).parents[2] / "examples/gpt.py"
SMALL = ["--width", "64", "--heads", "2", "--length", "8", "--epochs", "3", "--write", "2", "--prompt", "the quick"]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page for 26 windows of 8 words, half of which are in the next window too."""
    folder = tmp_path_factory.mktemp("text")
    (folder / "page.md").write_text("the quick brown fox jumps over the lazy dog. " * 11)
    return folder


def _losses(output: str) -> list[float]:
    return [float(line.split()[-1]) for line in output.splitlines() if "loss: " in line]


@pytest.mark.slow
def test_eight_devices_and_one_have_the_same_losses(
    text: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without blocks, which take 15 s to compile."""
    losses, outputs = {}, {}
    for strategy in ("sharded", "one"):
        words = [str(SCRIPT), "--strategy", strategy, "--text", str(text), "--blocks", "0", *SMALL]
        monkeypatch.setattr(sys, "argv", words)
        runpy.run_path(str(SCRIPT), run_name="__main__")
        outputs[strategy] = capsys.readouterr().out
        losses[strategy] = _losses(outputs[strategy])
    np.testing.assert_allclose(losses["sharded"], losses["one"], atol=1.01e-4)
    assert losses["one"][-1] < losses["one"][0]
    assert_printed_as_shown("gpt", outputs["sharded"].replace(" kB", " MB"))  # of a larger model
    assert outputs["one"].splitlines()[-1].startswith("the quick")


@pytest.mark.full
@pytest.mark.parametrize("strategy", ["mirrored", "sharded"])
def test_two_devices_and_one_have_the_same_losses_in_processes_of_their_own(text: Path, strategy: str) -> None:
    def run(strategy: str) -> list[float]:
        size = ["--blocks", "1", "--batch", "6"]
        words = [sys.executable, str(SCRIPT), "--strategy", strategy, "--text", str(text), *SMALL, *size]
        environ = {**os.environ, "UNISONO_CPU_DEVICES": "2"}
        result = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=240)
        assert result.returncode == 0, result.stderr
        return _losses(result.stdout)

    np.testing.assert_allclose(run(strategy), run("one"), atol=1.01e-4)
