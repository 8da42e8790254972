"""`unisono demo` lists examples and runs them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from unisono._src.cli import _examples, main
from unisono._src.datasets import _local_files

SCRIPT = '''"""Prints its arguments.

More is not listed.
"""

import sys

if __name__ == "__main__":
    print("arguments:", *sys.argv[1:])
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as in an installed package, with two examples."""
    folder = tmp_path / "_examples"
    folder.mkdir()
    (folder / "arguments.py").write_text(SCRIPT)
    (folder / "unusual.py").write_text('"""Needs a package."""\nimport a_package_that_nobody_has\n')
    monkeypatch.setattr(_examples, "_PACKAGE", tmp_path)
    return folder


def test_the_list_has_the_scripts_of_the_clone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "mnist                 MNIST in 20 lines: a network trained on all devices of this machine." in lines
    assert lines[-1].endswith(str(Path(__file__).parents[2] / "examples"))


def test_the_list_has_the_scripts_of_the_package(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--list"]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "arguments  Prints its arguments."
    assert last.endswith(str(package))


def test_an_example_gets_the_arguments_after_its_name(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = list(sys.argv)
    assert main(["demo", "arguments", "--epochs", "2", "--list"]) == 0
    assert capsys.readouterr().out == "arguments: --epochs 2 --list\n"
    assert sys.argv == before


def test_a_package_that_an_example_needs_is_named(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "unusual"]) == 1
    assert "unusual.py needs the package a_package_that_nobody_has." in capsys.readouterr().err


def test_an_unknown_name_is_an_error_with_those_that_exist(package: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "mnits"])
    assert "there is no example 'mnits'. Choose one of: arguments, unusual." in capsys.readouterr().err


def test_without_mnist_and_network_it_says_where_to_put_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def load_data() -> None:
        raise Exception("URL fetch failure: no route to host")  # as Keras raises it

    monkeypatch.setattr(_local_files, "dataset_folders", lambda: [tmp_path])
    monkeypatch.setattr("keras.datasets.mnist.load_data", load_data)
    assert main(["demo"]) == 1
    said = capsys.readouterr().err
    assert "\nmnist was not found on this machine. Looked for the file mnist.npz" in said
    assert f"    {tmp_path}\n" in said
    assert said.startswith("Keras could not download mnist: URL fetch failure: no route to host\n")
