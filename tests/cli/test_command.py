"""The command `unisono` and what is packaged with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from unisono._src.cli import main

ROOT = Path(__file__).parents[2]


def test_the_version_names_what_is_used_and_the_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    first, used, devices = capsys.readouterr().out.splitlines()
    assert first == f"unisono {version('unisono')}"
    assert f"JAX {version('jax')}" in used
    assert f"Keras {version('keras')}" in used
    assert devices == "Devices: 8 × cpu (cpu)"


@pytest.mark.slow
def test_the_version_is_shown_where_jax_finds_no_device() -> None:
    command = [sys.executable, "-m", "unisono", "--version"]
    environ = {**os.environ, "JAX_PLATFORMS": "cuda"}
    found = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120)
    assert found.returncode == 0, found.stderr
    first, used, devices = found.stdout.splitlines()
    assert first == f"unisono {version('unisono')}"
    assert f"JAX {version('jax')}" in used
    assert devices == (
        "Devices: none, JAX could not start: JAX_PLATFORMS=cuda, and this machine has no such device. "
        "Type `unisono doctor`, which says what is missing."
    )
    assert "Traceback" not in found.stderr


@pytest.mark.slow
def test_the_package_can_be_run_as_the_command() -> None:
    command = [sys.executable, "-m", "unisono", "run", "--help"]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    assert output.startswith("usage: unisono run ")


@pytest.mark.slow
def test_the_wheel_and_the_source_have_what_users_need_and_nothing_else(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,), (source,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith("/METADATA"))
    assert {name.partition("/")[0] for name in names} == {
        "unisono",
        "unisono_launch",
        wheel.name.split("-py3")[0] + ".dist-info",
    }
    assert {"unisono/py.typed", "unisono/__main__.py", "unisono_launch/as_tensorflow/on_path/sitecustomize.py"} <= {
        *names
    }
    examples = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert {name for name in names if name.startswith("unisono/_examples/")} == {
        f"unisono/_examples/{name}" for name in examples
    }
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert not [
        line
        for line in required
        if any(name in line for name in ("pytest", "hypothesis", "ruff", "mypy", "ray", "sphinx", "mlflow"))
    ]
    with tarfile.open(source) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", "src/unisono/__init__.py"} <= files


def test_the_citation_has_the_version_of_the_package() -> None:
    assert f"version: {version('unisono')}\n" in (ROOT / "CITATION.cff").read_text()
