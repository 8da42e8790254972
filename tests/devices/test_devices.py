from pathlib import Path

import jax
import pytest

from unisono._src.devices import default_devices, device_name, resolve_devices


@pytest.mark.parametrize(
    "name", ["cpu:1", "CPU:1", "/cpu:1", "/device:CPU:1", "/job:localhost/replica:0/task:0/device:CPU:1"]
)
def test_every_spelling_of_a_device_is_understood(name: str) -> None:
    assert resolve_devices([name]) == [jax.devices("cpu")[1]]


def test_an_object_that_represents_a_device_is_accepted() -> None:
    class Second:
        def __unisono_device__(self) -> str:
            return "/device:CPU:1"

    assert resolve_devices([Second()]) == [jax.devices("cpu")[1]]


def test_jax_devices_are_taken_as_they_are() -> None:
    devices = jax.devices("cpu")[2:4]
    assert resolve_devices(devices) == devices


def test_without_gpus_all_cpus_are_the_default() -> None:
    assert default_devices() == jax.devices("cpu")


def test_the_short_name_of_a_device_reads_back() -> None:
    device = jax.devices("cpu")[3]
    assert resolve_devices([device_name(device)]) == [device]


@pytest.mark.parametrize(
    ("devices", "message"),
    [
        (["cpu:0", "/cpu:0"], "cpu:0 named more than once"),
        (["gpu:0"], "no device gpu:0 on this machine. It has: cpu:0"),
        (["cpu"], "'cpu' is not a device"),
        ([0], "0 is not a device"),
        ([Path("/data/cpu:1")], r"PosixPath\('/data/cpu:1'\) is not a device"),
        ([], "No devices were given"),
    ],
)
def test_wrong_devices_are_refused_by_name(devices: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve_devices(devices)


def test_more_cpus_than_jax_started_with_are_refused_with_the_remedy() -> None:
    assert len(jax.devices("cpu")) == 8
    with pytest.raises(RuntimeError, match="already started with 8 CPU device") as error:
        resolve_devices(["cpu:0", "cpu:11"])
    assert "UNISONO_CPU_DEVICES=12" in str(error.value)
