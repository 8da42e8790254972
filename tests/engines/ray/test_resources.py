"""What jobs ask Ray for, and what they may not ask for. Needs Ray, and no cluster."""

import subprocess
import sys

import pytest

from unisono_launch.engines.ray._devices import RayDevices
from unisono_launch.launch import SizeRange, UsageError

pytestmark = pytest.mark.engines


@pytest.fixture(autouse=True)
def undo_variables_of_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_CLIENT_MODE", "0")  # set when Ray is imported


@pytest.mark.parametrize(
    ("devices", "workers", "resources"),
    [
        ("cpu:2", 3, {"CPU": 2}),
        ("gpu:4", 2, {"CPU": 1, "GPU": 4}),
        ("tpu:4", 1, {"TPU": 4}),
        ("tpu:v6e:4x4", 4, {"CPU": 1, "TPU": 4, "accelerator_type:TPU-V6E": 0.001}),
    ],
)
def test_each_worker_has_a_bundle(devices: str, workers: int, resources: dict[str, float]) -> None:
    from unisono_launch.engines.ray._resources import scaling_config

    found = scaling_config(RayDevices.parse(devices), SizeRange(workers, workers))
    assert found.num_workers == workers
    assert found._resources_per_worker_not_none == resources


@pytest.mark.parametrize(
    ("devices", "workers", "message"),
    [
        ("tpu:v6e:4x4", SizeRange(8, 8), "a job has one slice. Write -n 4"),
        ("tpu:v6e:4x4", SizeRange(2, 4), "a job has one slice. Write -n 4"),
        ("tpu:v9z:3x3", SizeRange(1, 1), "Ray knows no slice of TPU-V9Z"),
    ],
)
def test_a_job_has_one_whole_slice(devices: str, workers: SizeRange, message: str) -> None:
    from unisono_launch.engines.ray._resources import scaling_config

    with pytest.raises(UsageError, match=message):
        scaling_config(RayDevices.parse(devices), workers)


def test_the_public_names_exist() -> None:
    import unisono.ray

    assert sorted(unisono.ray.__all__) == ["ReportCallback", "Trainer"]
    assert all(hasattr(unisono.ray, name) for name in unisono.ray.__all__)


def test_unisono_imports_ray_only_when_asked_to() -> None:
    script = (
        "import sys, unisono, unisono_launch._main; print([name for name in sys.modules if name.startswith('ray')])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert result.stdout == "[]\n"
