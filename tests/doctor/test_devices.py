from pathlib import Path

import pytest

from unisono._src.core import nproc_for
from unisono_launch._install_command import install_command
from unisono_launch.doctor._devices import judge_devices


def facts(devices: int, threads: int) -> dict:
    return {
        "platform": "cpu",
        "devices": [{"name": f"cpu:{i}", "kind": "cpu", "memory_bytes": None} for i in range(devices)],
        "num_cpu_devices": devices,
        "num_cpu_threads": threads,
    }


@pytest.mark.parametrize("devices", [2, 4, 8])
def test_cpu_devices_need_twice_as_many_threads(tmp_path: Path, devices: int) -> None:
    assert judge_devices(facts(devices, nproc_for(devices)), {}, tmp_path).status == "ok"
    few = judge_devices(facts(devices, 2 * devices - 1), {}, tmp_path)
    assert few.status == "warning"
    assert f"UNISONO_CPU_DEVICES={devices}" in (few.remedy or "")


def test_one_cpu_device_may_have_one_thread(tmp_path: Path) -> None:
    assert judge_devices(facts(1, 1), {}, tmp_path).status == "ok"


def test_gpus_are_described_with_their_memory(tmp_path: Path) -> None:
    gpus = [{"name": f"gpu:{i}", "kind": "NVIDIA H200", "memory_bytes": 106_000_000_000} for i in range(8)]
    found = judge_devices(facts(1, 16) | {"platform": "gpu", "devices": gpus}, {}, tmp_path)
    assert (found.status, found.text) == ("ok", "gpu:0 to gpu:7: NVIDIA H200, 106 GB for JAX each")


@pytest.mark.parametrize(
    ("path", "extra"),
    [
        ("proc/driver/nvidia/gpus/0000:01:00.0", "cuda"),
        ("dev/accel0", "tpu"),
    ],
)
def test_accelerators_that_jax_does_not_see_are_a_warning(tmp_path: Path, path: str, extra: str) -> None:
    (tmp_path / path).mkdir(parents=True)
    found = judge_devices(facts(1, 2), {}, tmp_path)
    assert found.status == "warning"
    assert install_command(extra) in (found.remedy or "")
    hidden = judge_devices(facts(1, 2), {"JAX_PLATFORMS": "cpu"}, tmp_path)
    assert (hidden.status, hidden.text) == ("ok", "cpu:0 (JAX_PLATFORMS=cpu)")


@pytest.mark.parametrize(("vendor", "status"), [("0x1ae0", "warning"), ("0x10de", "ok")])
def test_a_device_of_vfio_is_a_tpu_if_google_made_it(tmp_path: Path, vendor: str, status: str) -> None:
    """Others are passed through to a virtual machine."""
    (tmp_path / "dev/vfio/0").mkdir(parents=True)
    device = tmp_path / "sys/bus/pci/devices/0000:00:05.0"
    device.mkdir(parents=True)
    (device / "vendor").write_text(f"{vendor}\n")
    assert judge_devices(facts(1, 2), {}, tmp_path).status == status
