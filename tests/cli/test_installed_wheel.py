"""The wheel in an environment that has nothing but its dependencies, used as a new user does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Protocol

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.parity._cells import PLAIN_RUN_TOLERANCE

pytestmark = pytest.mark.full

ROOT = Path(__file__).parents[2]

TRAIN = """
import unisono
import keras
import numpy as np

keras.utils.set_random_seed(1)
random = np.random.default_rng(0)
x = random.normal(size=(72, 3)).astype("float32")
y = x.sum(1, keepdims=True)
with unisono.MultiWorkerMirroredStrategy().scope():
    model = keras.Sequential([keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.05), "mse")
history = model.fit(x, y, batch_size=16, epochs=2, verbose=0)  # the last batch has 8 rows
print("losses:", *history.history["loss"])
"""


class RunCommand(Protocol):
    """Runs a command of an environment in an empty folder with the script train.py; returns its output."""

    def __call__(self, *command: str, variables: Mapping[str, str] | None = None, code: int = 0) -> str: ...


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source archive."""
    folder = tmp_path_factory.mktemp("built")
    _build(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def built_from_source(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel that is built from the source archive, outside the repository."""
    source, folder = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built_from_source")
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(source, filter="data")
    (project,) = source.iterdir()
    _build(project, folder, "--target", "wheel")
    return folder


@pytest.fixture(scope="module")
def run(built: Path, tmp_path_factory: pytest.TempPathFactory) -> RunCommand:
    """Commands of an environment with the wheel."""
    return _install(built, tmp_path_factory)


def _build(project: Path, folder: Path, *options: str) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder), *options]
    subprocess.run(build, cwd=project, check=True, capture_output=True, timeout=120)


def _install(built: Path, tmp_path_factory: pytest.TempPathFactory) -> RunCommand:
    """An environment with the wheel of a folder, and the dependencies that the wheel names, and theirs.

    These are linked from the environment of the tests: a package index may be out of reach.
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
    common = {name: value for name, value in os.environ.items() if name not in inherited}
    common |= {
        "PATH": f"{environment / 'bin'}:{os.environ['PATH']}",
        "UNISONO_DATASETS": str(ROOT / "examples" / "data"),
        "JAX_PLATFORMS": "cpu",
    }
    (folder / "train.py").write_text(TRAIN)

    def run(*command: str, variables: Mapping[str, str] | None = None, code: int = 0) -> str:
        process = subprocess.run(
            command,
            cwd=folder,
            env={**common, **(variables or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=240,
        )
        assert process.returncode == code, process.stdout
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


def _losses(output: str) -> list[list[float]]:
    """Of each process that ran the script."""
    lines = [line.partition("losses: ")[2] for line in output.splitlines() if "losses: " in line]
    return [[float(loss) for loss in line.split()] for line in lines]


def _files(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums."""
    with zipfile.ZipFile(wheel) as archive:
        return {file.filename: file.CRC for file in archive.infolist()}


def test_nothing_else_is_installed(run: RunCommand) -> None:
    found = run("python", "-c", "from importlib.metadata import *; print([d.name for d in distributions()])").lower()
    assert "'unisono'" in found
    assert not re.findall(
        r"'(pytest|hypothesis|ruff|mypy|ray|sphinx|furo|mlflow|pillow|fsspec|tensorflow|torch)'", found
    )


def test_the_command_and_the_package_show_their_version(run: RunCommand) -> None:
    assert run("python", "-m", "unisono", "--version").splitlines()[0] == run("unisono", "--version").splitlines()[0]


def test_the_doctor_finds_that_training_works(run: RunCommand) -> None:
    assert "Training works here." in run("unisono", "doctor")


def test_the_demo_runs(run: RunCommand) -> None:
    assert "one device" in run("unisono", "demo")


def test_the_demo_without_mnist_and_network_ends_with_what_to_do(run: RunCommand, tmp_path: Path) -> None:
    nobody_listens = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nobody_listens)
    variables = {"HOME": str(tmp_path), "KERAS_HOME": str(tmp_path / "keras"), "UNISONO_DATASETS": "", "no_proxy": ""}
    said = run("unisono", "demo", variables={**variables, **proxies}, code=1)
    assert "Traceback" not in said
    assert f"    {tmp_path / 'keras' / 'datasets'}\n" in said
    remedy, origin = said.splitlines()[-2:]
    assert remedy == "Put one of them there, or set UNISONO_DATASETS to a folder that has it."
    assert origin.startswith("A clone of Unisono has the file in examples/data; it is also at https://")


def test_a_script_has_the_same_losses_alone_and_on_two_workers(run: RunCommand) -> None:
    alone, together = run("python", "train.py"), run("unisono", "run", "-n", "2", "train.py")
    (losses,) = _losses(alone)
    assert len(losses) == 2
    assert _losses(together) == [pytest.approx(losses, rel=PLAIN_RUN_TOLERANCE)] * 2


def test_a_wheel_from_the_source_archive_is_the_same_and_trains(
    built: Path, built_from_source: Path, run: RunCommand, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (direct,), (indirect,) = built.glob("*.whl"), built_from_source.glob("*.whl")
    assert _files(indirect) == _files(direct)
    run_from_source = _install(built_from_source, tmp_path_factory)
    assert _losses(run_from_source("python", "train.py")) == _losses(run("python", "train.py"))


def test_the_source_archive_has_what_the_tests_need_and_nothing_that_a_build_left(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    missing = {name for name in tracked.stdout.splitlines() if not (name in files or (ROOT / name).is_symlink())}
    assert missing == set()
    assert not {name for name in files if re.search(r"__pycache__|\.pyc$|^(build|dist|\.venvs?|runs)/|\.log$", name)}
