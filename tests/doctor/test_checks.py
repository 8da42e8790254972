"""The checks that need no JAX, in this process."""

import json
import os
import platform
import sys
from pathlib import Path

import pytest

from unisono._src.datasets import read_local_dataset
from unisono_launch._install_command import install_command
from unisono_launch.doctor import Finding, _requirements, _versions
from unisono_launch.doctor._backend import check_backend
from unisono_launch.doctor._cluster import check_cluster
from unisono_launch.doctor._datasets import check_datasets
from unisono_launch.doctor._engines import check_engines
from unisono_launch.doctor._extras import check_extras
from unisono_launch.doctor._machine import check_machine
from unisono_launch.doctor._ports import check_ports
from unisono_launch.doctor._strategy import check_strategy
from unisono_launch.doctor._versions import check_versions


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def with_versions(monkeypatch: pytest.MonkeyPatch, versions: dict[str, str | None]) -> Finding:
    """What is found if these packages had other versions; None: if they were missing."""
    real = _requirements.installed_version
    monkeypatch.setattr(_versions, "installed_version", lambda name: versions.get(name, real(name)))
    return check_versions()


def test_the_machine_is_described() -> None:
    found = check_machine()
    assert found.status == "ok"
    assert found.facts["cores"] == os.cpu_count()
    assert 1 <= found.facts["usable_cores"] <= found.facts["cores"]
    assert found.facts["memory_bytes"] > 2**20
    assert f"Python {platform.python_version()}" in found.text


def test_the_memory_limit_of_a_container_is_reported(tmp_path: Path) -> None:
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text("500000000\n")
    found = check_machine(tmp_path)
    assert found.facts["memory_limit_bytes"] == 500_000_000
    assert found.facts["free_memory_bytes"] is None
    assert "limited to 0.5 GB by the container" in found.text


@pytest.mark.parametrize("none", ["max", "9223372036854771712"])
def test_a_container_without_a_limit_has_none(tmp_path: Path, none: str) -> None:
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/memory.max").write_text(none)
    assert check_machine(tmp_path).facts["memory_limit_bytes"] is None


def test_what_is_installed_here_fits() -> None:
    found = check_versions()
    assert (found.status, found.remedy) == ("ok", None)
    assert found.facts["packages"]["jax"]["fits"]
    assert found.facts["packages"]["jaxlib"]["required"]


@pytest.mark.parametrize(
    ("package", "version", "status"),
    [
        ("jax", "0.10.1", "error"),
        ("jax", "0.13.0", "error"),
        ("jaxlib", "0.9.0", "error"),
        ("keras", "4.0", "error"),
        ("numpy", "1.26.4", "error"),
        ("rich", "13.0", "error"),
        ("jax-cuda13-plugin", "0.9.0", "warning"),  # JAX does without it, on the CPU
    ],
)
def test_a_version_that_does_not_fit_is_named_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch, package: str, version: str, status: str
) -> None:
    found = with_versions(monkeypatch, {package: version})
    assert found.status == status
    assert f"{package} {version}" in found.text
    assert f"pip install '{package}" in (found.remedy or "")
    assert found.facts["packages"][package] == {
        "version": version,
        "required": found.facts["packages"][package]["required"],
        "fits": False,
    }


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_versions(monkeypatch, {"safetensors": None})
    assert found.status == "error"
    assert "safetensors is missing" in found.text


def test_a_python_that_is_too_new_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "python_version", lambda: "3.14.1")
    found = check_versions()
    assert found.status == "error"
    assert "Python 3.14.1 does not fit" in found.text


def test_unisono_from_a_folder_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    real = _requirements.requirements_of
    monkeypatch.setattr(_versions, "requirements_of", lambda name: None if name == "unisono" else real(name))
    found = check_versions()
    assert (found.status, found.remedy) == ("warning", "In its folder type: pip install .")


def test_extras_are_listed_and_an_old_one_is_a_warning(monkeypatch: pytest.MonkeyPatch, pretend) -> None:
    assert check_extras().facts["images"]["installed"]
    monkeypatch.syspath_prepend(pretend("pillow", "9.0"))
    found = check_extras()
    assert (found.status, found.remedy) == ("warning", install_command("images", upgrade=True))
    assert "pillow 9.0" in found.text


def test_another_backend_in_the_environment_is_an_error(home: Path) -> None:
    found = check_backend({"KERAS_BACKEND": "torch"})
    assert found.status == "error"
    assert "unset KERAS_BACKEND" in (found.remedy or "")


def test_another_backend_in_keras_json_is_reported_and_does_not_disturb(home: Path) -> None:
    (home / ".keras").mkdir()
    (home / ".keras/keras.json").write_text('{"backend": "tensorflow"}')
    found = check_backend({})
    assert (found.status, found.facts["in_file"]) == ("ok", "tensorflow")
    assert "'tensorflow'" in found.text
    assert check_backend({"KERAS_BACKEND": "jax"}).text == "jax, by KERAS_BACKEND"


def test_a_user_without_a_home_has_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs with any UID."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 123_456)
    assert check_backend({}).status == "ok"


def test_the_strategy_of_the_environment_is_reported_and_an_unknown_one_is_an_error() -> None:
    assert "--sharded" in check_strategy({}).text
    assert check_strategy({"UNISONO_STRATEGY": "sharded"}).text.endswith("by UNISONO_STRATEGY=sharded")
    found = check_strategy({"UNISONO_STRATEGY": "zero"})
    assert (found.status, found.remedy) == ("error", "unset UNISONO_STRATEGY")


@pytest.mark.parametrize("text", ["{", "[]", '{"backend": 3}', "\xff"])
def test_a_keras_json_that_makes_no_sense_is_passed_over(tmp_path: Path, text: str) -> None:
    (tmp_path / "keras.json").write_text(text, encoding="latin-1")
    assert check_backend({"KERAS_HOME": str(tmp_path)}).facts["in_file"] is None


def test_datasets_are_listed(home: Path) -> None:
    (home / "fashion_mnist.npz").touch()
    (home / "mnist").mkdir()
    (home / "mnist/t10k-labels-idx1-ubyte").touch()
    found = check_datasets({"UNISONO_DATASETS": str(home), "KERAS_HOME": "/nowhere"})
    assert found.status == "ok"
    assert next(iter(found.facts["folders"].items())) == (str(home), ["fashion_mnist.npz", "mnist/"])
    assert found.facts["folders"]["/nowhere/datasets"] == []


@pytest.mark.parametrize("folder", ["missing", "empty"])
def test_a_folder_without_datasets_is_a_warning(home: Path, folder: str) -> None:
    (home / "empty").mkdir()
    found = check_datasets({"UNISONO_DATASETS": str(home / folder)})
    assert found.status == "warning"
    assert str(home / folder) in found.text


def test_datasets_are_looked_for_where_unisono_looks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_DATASETS", str(home / "mine"))
    if Path("/usr/share/datasets/fashion-mnist").exists():
        pytest.skip("this machine has Debian's dataset-fashion-mnist")
    with pytest.raises(FileNotFoundError) as error:
        read_local_dataset("fashion_mnist")
    assert all(folder in str(error.value) for folder in check_datasets(os.environ).facts["folders"])


def test_without_a_cluster_every_kind_says_why_not() -> None:
    found = check_cluster({})
    assert (found.status, found.facts["taken"], found.facts["membership"]) == ("ok", None, None)
    assert found.text.startswith("none: this process trains alone\n1. unisono run: ")
    assert [step["kind"] for step in found.facts["order"]][:4] == ["unisono run", "TF_CONFIG", "JAX variables", "SLURM"]


def test_a_cluster_is_reported_with_its_variables_and_what_it_came_before() -> None:
    torchrun = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"}
    config = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}'
    found = check_cluster({"TF_CONFIG": config, **torchrun})
    assert found.status == "ok"
    assert found.text.startswith("worker 1 at b:1, process 1 of 2, coordinator at a:1; from TF_CONFIG\n")
    assert "TF_CONFIG (used): " in found.text
    assert "torchrun (found, but not the first): " in found.text
    assert found.facts["variables"] == {"TF_CONFIG": config, **torchrun}
    assert found.facts["membership"]["coordinator"] == "a:1"


def test_a_cluster_with_parameter_servers_is_no_error() -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}
    environ = {"TF_CONFIG": json.dumps({"cluster": cluster, "task": {"type": "ps", "index": 0}})}
    found = check_cluster(environ)
    assert (found.status, found.facts["taken"], found.facts["membership"]) == ("ok", "TF_CONFIG", None)
    assert found.text.startswith("TF_CONFIG has parameter servers: tasks of ParameterServerStrategy")
    assert check_ports(environ).status == "ok"


def test_a_cluster_that_makes_no_sense_is_an_error_with_the_variables_to_unset() -> None:
    found = check_cluster({"RANK": "7", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"})
    assert found.status == "error"
    assert "process 7 of 2" in found.text
    assert (found.remedy or "").endswith("unset RANK WORLD_SIZE MASTER_ADDR MASTER_PORT")


def test_engines_are_found_without_importing_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pretend) -> None:
    monkeypatch.syspath_prepend(pretend("ray", "2.60.0"))
    (tmp_path / "sbatch").touch(mode=0o755)
    found = check_engines({"PATH": str(tmp_path)})
    assert found.status == "ok"
    assert found.facts == {"ray": "2.60.0", "slurm": str(tmp_path / "sbatch"), "kubernetes": None}
    assert found.text.splitlines()[0] == "unisono run --on ray | slurm"
    assert "kubernetes: no kubectl on the PATH (--dry-run prints the manifest)" in found.text
    assert "ray" not in sys.modules
