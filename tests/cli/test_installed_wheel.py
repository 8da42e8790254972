"""The wheel in an environment that has nothing but its dependencies, used as a new user does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]

TRAIN = """
import unisono
import keras
import numpy as np

with unisono.MultiWorkerMirroredStrategy().scope():
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
model.fit(np.ones((64, 3)), np.ones((64, 1)), batch_size=16, epochs=2, verbose=2)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("built")
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def run(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Runs a command of an environment with the wheel, in an empty folder; returns its output.

    The dependencies are those that the wheel names, and theirs. They are linked from the environment of the tests: a
    package index may be out of reach.
    """
    environment, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("user")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True, timeout=120)
    (packages,) = environment.glob("lib/python*/site-packages")
    (wheel,) = built.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, *install], check=True, capture_output=True, timeout=120)
    (metadata,) = packages.glob("unisono-*.dist-info")
    for dependency in _with_dependencies(Distribution.at(metadata), {}).values():
        _link(dependency, packages)
    inherited = ("KERAS_BACKEND", "UNISONO_CPU_DEVICES", "NPROC", "PYTHONPATH")
    variables = {name: value for name, value in os.environ.items() if name not in inherited}
    variables |= {
        "PATH": f"{environment / 'bin'}:{os.environ['PATH']}",
        "UNISONO_DATASETS": str(ROOT / "examples" / "data"),
        "JAX_PLATFORMS": "cpu",
    }
    (folder / "train.py").write_text(TRAIN)

    def run(*command: str) -> str:
        process = subprocess.run(
            command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240
        )
        assert process.returncode == 0, process.stdout
        return process.stdout

    return run


def _with_dependencies(package: Distribution, found: dict[str, Distribution]) -> dict[str, Distribution]:
    for line in package.requires or []:
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        if name not in found and (not requirement.marker or requirement.marker.evaluate({"extra": ""})):
            found[name] = distribution(name)
            _with_dependencies(found[name], found)
    return found


def _link(package: Distribution, folder: Path) -> None:
    for file in package.files or []:
        if file.parts[0] != ".." and "__pycache__" not in file.parts:
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(Path(str(package.locate_file(file))).resolve())


def test_nothing_else_is_installed(run: Callable[..., str]) -> None:
    found = run("python", "-c", "from importlib.metadata import *; print([d.name for d in distributions()])").lower()
    assert "'unisono'" in found
    assert not re.findall(
        r"'(pytest|hypothesis|ruff|mypy|ray|sphinx|furo|mlflow|pillow|fsspec|tensorflow|torch)'", found
    )


def test_the_command_and_the_package_show_their_version(run: Callable[..., str]) -> None:
    assert run("python", "-m", "unisono", "--version").splitlines()[0] == run("unisono", "--version").splitlines()[0]


def test_the_doctor_finds_that_training_works(run: Callable[..., str]) -> None:
    assert "Training works here." in run("unisono", "doctor")


def test_the_demo_runs(run: Callable[..., str]) -> None:
    assert "one device" in run("unisono", "demo")


def test_a_script_trains_alone_and_on_two_workers(run: Callable[..., str]) -> None:
    alone, together = run("python", "train.py"), run("unisono", "run", "-n", "2", "train.py")
    losses = [re.findall(r"loss: ([\d.e-]+)", output) for output in (alone, together)]
    assert len(losses[0]) == len(losses[1]) == 2


def test_the_source_archive_has_what_the_tests_need_and_nothing_that_a_build_left(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    missing = {name for name in tracked.stdout.splitlines() if not (name in files or (ROOT / name).is_symlink())}
    assert missing == set()
    assert not {name for name in files if re.search(r"__pycache__|\.pyc$|^(build|dist|\.venvs?|runs)/|\.log$", name)}
