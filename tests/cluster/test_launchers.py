"""Kubernetes, Open MPI, torchrun, `unisono run` and TPU pods: what test_detect.py does not show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unisono_launch.cluster import (
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
    LaunchedClusterResolver,
    OpenMpiClusterResolver,
    TorchrunClusterResolver,
    TPUPodClusterResolver,
    membership,
)

from . import recorded

LAUNCHED: dict[str, Any] = json.loads(recorded.UNISONO_RUN["UNISONO_CLUSTER"])


def test_pods_are_named_after_the_job_and_the_service() -> None:
    found = KubernetesClusterResolver(tf_server_port=2222, environ=recorded.INDEXED_JOB)
    assert found.cluster_spec().job_tasks("worker") == [f"example-job-{i}.headless-svc:2222" for i in range(3)]
    assert found.master() == "grpc://example-job-2.headless-svc:2222"


@pytest.mark.parametrize(
    "arguments",
    [
        {"job_to_label_mapping": {"worker": ["job-name=tensorflow"]}},
        {"override_client": object()},
        {"executable_location": KubernetesExecutableLocation.OFF_CLUSTER},
    ],
)
def test_asking_kubernetes_api_server_is_refused_with_a_manifest(arguments: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match=r"(?s)does not ask the API server.*completionMode: Indexed"):
        KubernetesClusterResolver(**arguments, environ=recorded.INDEXED_JOB)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"HOSTNAME": "node17"}, r"(?s)from HOSTNAME='node17', JOB_COMPLETION_INDEX=2 and .*subdomain: my-service"),
        ({"UNISONO_SUBDOMAIN": ""}, "UNISONO_SUBDOMAIN=''"),
        ({"UNISONO_NUM_NODES": ""}, "UNISONO_NUM_NODES is not set"),
        ({"UNISONO_NUM_NODES": "0"}, "UNISONO_NUM_NODES='0' is not a whole number of at least 1"),
        ({"JOB_COMPLETION_INDEX": ""}, "JOB_COMPLETION_INDEX is not set"),
        ({"UNISONO_NUM_NODES": "2"}, "'worker' 2, which is not in its cluster"),
    ],
)
def test_a_manifest_that_lacks_something_is_refused(changed: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        membership(KubernetesClusterResolver(environ={**recorded.INDEXED_JOB, **changed}))


@pytest.mark.parametrize(
    ("uri", "coordinator"),
    [
        ("1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911", "10.96.0.1:62624"),
        ("195559424.0;tcp://198.177.146.70:53997;tcp://10.10.10.4:53997", "198.177.146.70:64128"),
        ("723386368.0;usock;tcp://192.168.0.103:56672", "192.168.0.103:61920"),
        (
            "1314521088.0;tcp6://[fe80::b9b:ac5d:9cf0:b858,2620:10d:c083:150e::3000:2]:43370",
            "[fe80::b9b:ac5d:9cf0:b858]:62880",
        ),
    ],
)
def test_the_head_of_open_mpi_4_is_read_as_jax_does_it(uri: str, coordinator: str) -> None:
    environ = {**recorded.OPEN_MPI_4_TWO_NODES, "OMPI_MCA_orte_hnp_uri": uri}
    assert membership(OpenMpiClusterResolver(environ=environ)).coordinator == coordinator


@pytest.mark.parametrize(
    ("namespace", "coordinator"),
    [
        ("prterun-node18-12345@1", "node18:61497"),
        ("prterun-my-head-node-12345@1", "my-head-node:61497"),
        ("prterun-node18.cluster.org-12345@1", "node18.cluster.org:61497"),
    ],
)
def test_the_head_of_open_mpi_5_is_read_from_its_name(namespace: str, coordinator: str) -> None:
    environ = {**recorded.OPEN_MPI_5_TWO_NODES, "PMIX_NAMESPACE": namespace}
    assert membership(OpenMpiClusterResolver(environ=environ)).coordinator == coordinator


def test_a_master_that_was_named_is_where_open_mpis_processes_meet() -> None:
    environ = {**recorded.OPEN_MPI_5_TWO_NODES, "MASTER_ADDR": "node7", "MASTER_PORT": "2222"}
    assert membership(OpenMpiClusterResolver(environ=environ)).coordinator == "node7:2222"


def test_an_open_mpi_that_does_not_say_where_its_head_is_is_refused_with_what_to_type() -> None:
    environ = {**recorded.OPEN_MPI_5_TWO_NODES, "PMIX_NAMESPACE": "slurm.pmix.17261351.0"}
    with pytest.raises(ValueError, match=r"PMIX_NAMESPACE='slurm.pmix.17261351.0'.*mpirun -x MASTER_ADDR=host1"):
        OpenMpiClusterResolver(environ=environ)


def test_torchrun_keeps_its_port_to_itself() -> None:
    def port(**changed: str) -> str:
        found = membership(TorchrunClusterResolver(environ={**recorded.TORCHRUN, **changed}))
        assert found.coordinator is not None
        return found.coordinator.removeprefix("localhost:")

    assert port(TORCHELASTIC_USE_AGENT_STORE="False") == "41435"
    assert port() == "61915"
    assert port(MASTER_PORT="61915") != "61915"
    assert port(MASTER_PORT="61440") != "61440"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"RANK": "-1"}, "RANK='-1' is not a whole number of at least 0"),
        ({"WORLD_SIZE": ""}, "WORLD_SIZE is not set"),
        ({"MASTER_ADDR": ""}, "MASTER_ADDR is not set. Expected the host of the process with RANK=0"),
        ({"MASTER_PORT": "http"}, "MASTER_PORT='http'"),
        ({"LOCAL_RANK": "2"}, "process 2 of 2 on its machine"),
    ],
)
def test_torchruns_variables_are_checked(changed: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TorchrunClusterResolver(environ={**recorded.TORCHRUN, **changed})


def test_unknown_addresses_get_names_that_cannot_be_resolved() -> None:
    spec = TorchrunClusterResolver(environ=recorded.PYTORCH_JOB).cluster_spec()
    assert spec.job_tasks("worker") == ["mnist-master-0:23456", "worker-1.invalid:0"]


def launched(**changed: Any) -> LaunchedClusterResolver:
    content = {name: value for name, value in {**LAUNCHED, **changed}.items() if value is not None}
    return LaunchedClusterResolver(environ={"UNISONO_CLUSTER": json.dumps(content)})


def test_what_the_launcher_adds_later_is_passed_over_and_names_may_be_left_out() -> None:
    assert membership(launched(attempt=3)) == membership(launched())
    assert membership(launched(names=None)).names == ("worker 0", "worker 1", "worker 2", "worker 3")
    assert membership(launched(local=None)).local_size == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"version": 2}, "version 2, where this Unisono reads version 1"),
        ({"version": None}, "'version' is missing"),
        ({"coordinator": None}, "'coordinator' is missing"),
        ({"coordinator": "nowhere"}, "'nowhere' is not an address"),
        ({"num_processes": "4"}, "'4' is not a whole number"),
        ({"process_id": 4}, "process 4 of 4"),
        ({"names": ["one"]}, "names 1 of 4 processes"),
        ({"local": {"rank": 0}}, "'size' is missing"),
        ({"local": 1}, "UNISONO_CLUSTER cannot be read"),
    ],
)
def test_what_the_launcher_cannot_have_meant_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        launched(**changed)


@pytest.mark.parametrize("text", ["", "{", "[1]", "1"])
def test_a_variable_that_the_launcher_did_not_write_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"UNISONO_CLUSTER cannot be read: .*or unset UNISONO_CLUSTER"):
        LaunchedClusterResolver(environ={"UNISONO_CLUSTER": text})


def test_the_machines_of_other_slices_have_no_known_address() -> None:
    spec = TPUPodClusterResolver(environ=recorded.TPU_TWO_SLICES).cluster_spec()
    unknown = "slice-0-worker-1.invalid:0"
    assert spec.job_tasks("worker") == ["slice-0-0.svc:8482", unknown, "slice-1-0.svc:8482", "slice-1-1.svc:8482"]


def test_processes_of_a_tpu_machine_may_be_listed_with_their_ports() -> None:
    environ = {"TPU_PROCESS_ADDRESSES": "a:8476,a:8477,b:8476,b:8477", "TPU_WORKER_ID": "3"}
    found = membership(TPUPodClusterResolver(environ=environ))
    assert (found.num_processes, found.local_rank, found.local_size) == (4, 1, 2)
