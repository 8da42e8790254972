from __future__ import annotations

from pathlib import Path

import pytest

from unisono_launch.cluster import ClusterSpec, SimpleClusterResolver, TFConfigClusterResolver
from unisono_launch.cluster._accelerators import visible_gpus

from . import recorded


@pytest.mark.parametrize(
    ("chosen", "gpus"),
    [
        ("0", ["0"]),
        ("0,1,3", ["0", "1", "3"]),
        ("4, 5", ["4", "5"]),
        ("GPU-8932f937,MIG-GPU-1/2/3", ["GPU-8932f937", "MIG-GPU-1/2/3"]),
        ("", []),
        ("-1", []),
        ("0,-1,1", ["0"]),
        ("NoDevFiles", []),
    ],
)
def test_visible_gpus_are_counted_as_cuda_does(chosen: str, gpus: list[str]) -> None:
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": chosen}) == gpus


@pytest.mark.parametrize("folder", ["proc/driver/nvidia/gpus", "dev"])
def test_without_a_choice_the_files_of_the_driver_count(tmp_path: Path, folder: str) -> None:
    assert visible_gpus({}, tmp_path) == []
    (tmp_path / folder).mkdir(parents=True)
    for name in ["nvidia0", "nvidia1", "nvidiactl"] if folder == "dev" else ["0000:01:00.0", "0000:02:00.0"]:
        (tmp_path / folder / name).touch()
    assert visible_gpus({}, tmp_path) == ["0", "1"]
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": ""}, tmp_path) == []


def test_of_another_task_nothing_is_known() -> None:
    resolver = TFConfigClusterResolver(environ={**recorded.TF_CONFIG, "CUDA_VISIBLE_DEVICES": "0,1"})
    assert resolver.num_accelerators() == resolver.num_accelerators("worker", 1) == {"GPU": 2}
    assert resolver.num_accelerators("worker", 0) == {}


def test_counting_does_not_start_jax() -> None:
    resolver = TFConfigClusterResolver(environ={"CUDA_VISIBLE_DEVICES": ""})
    assert resolver.num_accelerators() == {}
    assert SimpleClusterResolver(ClusterSpec({})).num_accelerators() == {}
