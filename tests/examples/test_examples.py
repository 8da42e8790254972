"""Every example runs on small data, and prints what its docstring shows, with other numbers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import EXAMPLES, assert_printed_as_shown, shown_output

ARGUMENTS = {
    "custom_loop": [],
    "fine_tuning": [],
    "gan": ["--epochs", "2"],
    "image_folder": ["--epochs", "2", "--number", "10", "--size", "32"],
    "mixed_precision": [],
    "mnist": [],
    "text_classification": ["--epochs", "2", "--paragraphs", "400"],
    "time_series": ["--epochs", "2", "--days", "30"],
}
IN_TESTS_OF_THEIR_OWN = {"gpt", "resume", "tf_distribute_script", "worker_killed"}


def test_every_example_is_tested_and_shows_its_output() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == {*ARGUMENTS, *IN_TESTS_OF_THEIR_OWN}
    assert [name for name in names if not shown_output(name).strip()] == []


def test_the_index_has_a_row_for_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| \[(\w+)\.py\]", index, re.MULTILINE))
    assert rows == {path.stem for path in EXAMPLES.glob("*.py")}


@pytest.mark.slow
@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_example_prints_what_its_docstring_shows(run_example: Callable[..., str], name: str) -> None:
    assert_printed_as_shown(name, run_example(name, *ARGUMENTS[name]))


@pytest.mark.slow
def test_a_run_that_was_resumed_has_the_weights_of_one_that_was_not(run_example: Callable[..., str]) -> None:
    """The two runs are processes: in one process the second `fit` would have a checkpoint of its own."""

    def run(*arguments: str) -> str:
        command = [sys.executable, str(EXAMPLES / "resume.py"), "--folder", "runs/resume-example", *arguments]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=240).stdout

    at_once = run_example("resume", "--epochs", "3", "--folder", "runs/at-once")  # in the small folder of the fixture
    run("--epochs", "2")
    resumed = run("--epochs", "3")
    assert_printed_as_shown("resume", resumed)
    assert resumed.splitlines()[-1] == at_once.splitlines()[-1]


@pytest.mark.slow
def test_the_script_for_tensorflow_runs_unchanged(
    small_datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(small_datasets))
    script = str(EXAMPLES / "tf_distribute_script.py")
    command = [sys.executable, "-m", "unisono_launch", "run", "--as-tensorflow", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert_printed_as_shown("tf_distribute_script", result.stdout)


@pytest.mark.full
def test_a_job_of_which_a_worker_was_killed_has_the_weights_of_one_that_was_left_alone(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "worker_killed.py")]
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280, cwd=tmp_path
    )
    assert result.returncode == 0, result.stdout
    assert_printed_as_shown("worker_killed", result.stdout)
