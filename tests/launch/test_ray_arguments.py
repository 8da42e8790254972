"""The command line of `unisono run --on ray`. Needs no Ray."""

import importlib.util
import re
from pathlib import Path

import pytest

from unisono_launch._install_command import install_command
from unisono_launch.engines import run
from unisono_launch.engines.ray._arguments import parse
from unisono_launch.engines.ray._devices import RayDevices
from unisono_launch.launch import SizeRange, UsageError

SCRIPT = __file__


def test_options_come_before_the_script_and_its_arguments_after() -> None:
    options = parse(["--address", "head:6379", "-n", "2:4", "--devices", "gpu:8", "--grace", "60", SCRIPT, "-n", "7"])
    assert options.address == "head:6379"
    assert options.workers == SizeRange(2, 4)
    assert options.devices == RayDevices(kind="gpu", count=8)
    assert options.job.grace == 60
    assert options.job.program == (SCRIPT, "-n", "7")


def test_an_elastic_job_survives_three_failures_by_default() -> None:
    assert parse(["-n", "2:4", SCRIPT]).job.restarts == 3
    assert parse(["-n", "2", SCRIPT]).job.restarts == 0
    assert parse(["-n", "2:4", "--max-restarts", "0", SCRIPT]).job.restarts == 0


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ("auto", RayDevices(kind="auto")),
        ("cpu", RayDevices(kind="cpu")),
        ("cpu:4", RayDevices(kind="cpu", count=4)),
        ("tpu:4", RayDevices(kind="tpu", count=4)),
        ("tpu:v6e:4x4", RayDevices(kind="tpu", accelerator_type="TPU-V6E", topology="4x4")),
        ("tpu:v4:2x2x2", RayDevices(kind="tpu", accelerator_type="TPU-V4", topology="2x2x2")),
    ],
)
def test_devices_are_what_each_worker_asks_ray_for(text: str, devices: RayDevices) -> None:
    assert RayDevices.parse(text) == devices


def test_auto_is_a_gpu_if_the_cluster_has_one() -> None:
    assert RayDevices.parse("auto").on_cluster({"CPU": 8.0}) == RayDevices(kind="cpu")
    assert RayDevices.parse("auto").on_cluster({"CPU": 8.0, "GPU": 2.0}) == RayDevices(kind="gpu")
    assert RayDevices.parse("cpu:2").on_cluster({"GPU": 2.0}) == RayDevices(kind="cpu", count=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "No script was given"),
        (["-n", "two", SCRIPT], "-n two is not a number of workers"),
        (["-n", "0", SCRIPT], "-n 0 starts no worker"),
        (["-n", "4:2", SCRIPT], "Write -n 2:4"),
        (["--devices", "gpu:0,1", SCRIPT], "Ray chooses the GPUs. Say how many each worker needs, as in gpu:1"),
        (["--devices", "abacus", SCRIPT], "is not a choice of devices"),
        (["-n", "2", "--devices", "tpu:4", SCRIPT], "--devices tpu:v6e:4x4"),
        (["--nnodes", "2", SCRIPT], "unisono run --on ray --help"),
        (["--address", "ray://head:10001", SCRIPT], "ray job submit"),
        (["no_such_script.py"], "There is no script 'no_such_script.py'"),
    ],
)
def test_wrong_options_are_explained(arguments: list[str], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse(arguments)
    assert message in str(raised.value)


def test_a_ray_client_is_refused_wherever_its_address_comes_from() -> None:
    environ = {"RAY_ADDRESS": "ray://head:10001"}
    with pytest.raises(UsageError, match=r"^RAY_ADDRESS=ray://head:10001: a Ray client cannot watch a job.*submit"):
        parse([SCRIPT], environ)
    assert parse(["--address", "auto", SCRIPT], environ).address == "auto"
    assert parse([SCRIPT], {"RAY_ADDRESS": "head:6379"}).address == "head:6379"


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_one_sentence_says_what_to_install(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--on", "ray", SCRIPT]) == 2
    assert capsys.readouterr().err == f"unisono run: Ray is not installed. Type: {install_command('ray')}\n"
    with pytest.raises(ImportError, match=re.escape(install_command("ray"))):
        importlib.import_module("unisono.ray")


def test_the_script_is_looked_for_in_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").touch()
    monkeypatch.chdir(tmp_path)
    assert parse(["train.py"]).job.program == ("train.py",)
