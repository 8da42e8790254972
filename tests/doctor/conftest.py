"""The command `unisono doctor`, as people start it, and packages that are not what they should be."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Doctor = Callable[..., tuple[int, str, str]]

# What the tests' own environment says about devices and backends, and must not say here.
_OURS = ("UNISONO_CPU_DEVICES", "NPROC", "KERAS_BACKEND", "TF_CONFIG", "UNISONO_DATASETS")


@pytest.fixture
def doctor(tmp_path: Path) -> Doctor:
    """Runs `unisono doctor WORDS` with an empty home folder: exit code, standard output, standard error."""

    def doctor(*words: str, **variables: str) -> tuple[int, str, str]:
        inherited = {name: value for name, value in os.environ.items() if name not in _OURS}
        result = subprocess.run(
            [sys.executable, "-m", "unisono_launch", "doctor", *words],
            cwd=tmp_path,
            env=inherited | {"HOME": str(tmp_path)} | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return result.returncode, result.stdout, result.stderr

    return doctor


@pytest.fixture
def pretend(tmp_path: Path) -> Callable[[str, str], Path]:
    """A folder for PYTHONPATH in which a package has another version."""

    def pretend(package: str, version: str) -> Path:
        folder = tmp_path / "pretended"
        metadata = folder / f"{package}-{version}.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        return folder

    return pretend
