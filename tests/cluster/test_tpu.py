from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from unisono._src.strategy import _tpu_cluster_resolver as _tpu
from unisono.cluster_resolver import TPUClusterResolver
from unisono_launch._install_command import install_command
from unisono_launch.cluster import membership

from . import recorded

EIGHT = {"UNISONO_FAKE_TPU": "8"}


@pytest.fixture
def tpu_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tpu, "_why_no_tpu", lambda environ: None)


def test_without_a_tpu_making_a_resolver_is_a_value_error_that_says_what_to_do() -> None:
    # ValueError: notebooks catch it to fall back on GPUs.
    with pytest.raises(ValueError, match=rf"(?s)^no TPU: .*{re.escape(install_command('tpu'))}.*UNISONO_FAKE_TPU=8"):
        TPUClusterResolver(tpu="my-tpu", zone="us-central1-b", environ={})


@pytest.mark.parametrize("number", ["0", "eight", "-1"])
def test_a_number_of_fake_cores_that_makes_no_sense_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match=f"UNISONO_FAKE_TPU='{number}' is not a whole number of at least 1"):
        TPUClusterResolver(environ={"UNISONO_FAKE_TPU": number})


def test_cpu_devices_stand_for_the_cores_of_a_fake_tpu() -> None:
    resolver = TPUClusterResolver(environ=EIGHT)
    assert resolver.num_accelerators() == {"TPU": 8}
    assert [device.platform for device in resolver.devices()] == ["cpu"] * 8
    metadata = resolver.get_tpu_system_metadata()
    assert (metadata.num_cores, metadata.num_hosts, metadata.num_of_cores_per_host) == (8, 1, 8)
    assert metadata.devices[7] == "/job:worker/replica:0/task:0/device:TPU:7"
    assert membership(resolver).num_processes == 1


def test_connect_reads_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNISONO_FAKE_TPU", "4")
    assert len(TPUClusterResolver.connect(tpu="").devices()) == 4


def test_what_tutorials_print_can_be_printed() -> None:
    resolver = TPUClusterResolver(environ=EIGHT)
    assert resolver.cluster_spec().as_dict()["worker"] == ["localhost:8470"]
    assert resolver.master() == resolver.get_master() == "grpc://localhost:8470"
    assert (resolver.get_job_name(), resolver.task_type, resolver.task_id) == ("worker", "worker", 0)
    assert resolver.get_coordination_service_leader() == "/job:worker/task:0"
    assert resolver.environment == ""


def test_a_local_tpu_has_no_cluster_as_in_tensorflow() -> None:
    resolver = TPUClusterResolver("local", environ=EIGHT)
    assert not resolver.cluster_spec()
    assert resolver.master() == ""


@pytest.mark.usefixtures("tpu_seen")
def test_in_a_pod_every_machine_is_a_worker() -> None:
    resolver = TPUClusterResolver(job_name="tpu_worker", environ=recorded.TPU_POD)
    assert resolver.cluster_spec().num_tasks("tpu_worker") == 4
    assert resolver.master() == "grpc://tpu-3.headless-svc:8482"
    assert membership(resolver).process_id == 3


@pytest.mark.usefixtures("tpu_seen")
def test_a_tpu_that_jax_cannot_find_after_all_is_the_same_error() -> None:
    with pytest.raises(ValueError, match="no TPU: JAX found none"):
        TPUClusterResolver(environ={}).num_accelerators()


def test_why_there_is_no_tpu_is_found_without_starting_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _tpu._why_no_tpu({"JAX_PLATFORMS": "cpu"}) == "JAX_PLATFORMS=cpu excludes TPUs"
    assert str(_tpu._why_no_tpu({})).startswith("libtpu is not installed")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert str(_tpu._why_no_tpu({"JAX_PLATFORMS": "tpu,cpu"}, tmp_path)).startswith("this machine has no device")
    (tmp_path / "accel0").touch()
    assert _tpu._why_no_tpu({}, tmp_path) is None
