from __future__ import annotations

import json

import pytest

from unisono_launch.cluster import Membership, detect, explain_detection, membership

from . import recorded

KINDS = ["unisono run", "TF_CONFIG", "JAX variables", "SLURM", "Kubernetes", "Open MPI", "torchrun", "TPU pod"]
KINDS += ["TPU VM", "SkyPilot", "dstack"]

# name of the recording: (kind, number of processes, this one, where they meet, its name, local rank and size)
EXPECTED: dict[str, tuple[str, int, int, str, str, int, int]] = {
    "UNISONO_RUN": ("unisono run", 4, 2, "127.0.0.1:41000", "worker 2 on hostb", 0, 2),
    "TF_CONFIG": ("TF_CONFIG", 2, 1, "localhost:12345", "worker 1 at localhost:23456", 1, 2),
    "TF_JOB": ("TF_CONFIG", 3, 2, "mnist-chief-0.ns.svc:2222", "worker 1 at mnist-worker-1.ns.svc:2222", 0, 1),
    "TRAIN_JOB": ("JAX variables", 2, 1, "mnist-node-0-0.mnist:29500", "worker 1", 0, 1),
    "SRUN": ("SLURM", 8, 5, "gnode10:63463", "worker 5 at gnode20:8889", 1, 4),
    "SRUN_GPU_PER_TASK": ("SLURM", 8, 5, "gnode10:63463", "worker 5 at gnode20:8889", 1, 4),
    "INDEXED_JOB": (
        "Kubernetes", 3, 2, "example-job-0.headless-svc:8470", "worker 2 at example-job-2.headless-svc:8470", 0, 1,
    ),
    "JOBSET": (
        "Kubernetes", 2, 1, "network-jobset-workers-0-0.example:8470",
        "worker 1 at network-jobset-workers-0-1.example:8470", 0, 1,
    ),
    "OPEN_MPI_4": ("Open MPI", 2, 1, "127.0.0.1:62336", "worker 1", 1, 2),
    "OPEN_MPI_5": ("Open MPI", 2, 1, "127.0.0.1:63447", "worker 1", 1, 2),
    "OPEN_MPI_4_TWO_NODES": ("Open MPI", 4, 2, "192.0.2.2:62336", "worker 2", 0, 2),
    "OPEN_MPI_5_TWO_NODES": ("Open MPI", 4, 2, "vm:63447", "worker 2", 0, 2),
    "MPIRUN_UNDER_SLURM": ("Open MPI", 4, 2, "192.0.2.2:62336", "worker 2", 0, 2),
    "TORCHRUN": ("torchrun", 2, 1, "localhost:61915", "worker 1", 1, 2),
    "TORCHRUN_UNDER_SLURM": ("torchrun", 8, 5, "gnode10:62268", "worker 5", 1, 4),
    "PYTORCH_JOB": ("torchrun", 2, 1, "mnist-master-0:23456", "worker 1", 0, 1),
    "TPU_POD": ("TPU pod", 4, 3, "tpu-0.headless-svc:8482", "worker 3 at tpu-3.headless-svc:8482", 0, 1),
    "SKYPILOT": ("SkyPilot", 2, 1, "10.0.0.4:63507", "worker 1 at 10.0.0.5:63507", 0, 1),
    "DSTACK": ("dstack", 2, 1, "10.128.0.47:62236", "worker 1 at 10.128.0.48:62236", 0, 1),
    "DSTACK_BEFORE_0_18_25": ("dstack", 2, 1, "10.128.0.47:62236", "worker 1", 0, 1),
    "TPU_TWO_SLICES": ("TPU pod", 4, 3, "slice-0-0.svc:8482", "worker 3 at slice-1-1.svc:8482", 0, 1),
}  # fmt: skip

ALONE = {
    "nothing": {},
    "a batch script outside srun": recorded.SBATCH,
    "a shell in srun": recorded.SRUN_SHELL,
    "a pod that trains alone": {"JOB_COMPLETION_INDEX": "3", "HOSTNAME": "sweep-3"},
    "a machine with one TPU": recorded.TPU_MACHINE,
    "TF_CONFIG without a cluster": {"TF_CONFIG": "{}"},
    "TF_CONFIG that is empty": {"TF_CONFIG": ""},
    "mpirun -n 1": {**recorded.OPEN_MPI_5, "OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"},
    "torchrun --nproc-per-node 1": {**recorded.TORCHRUN, "WORLD_SIZE": "1", "RANK": "0"},
    "JAX_NUM_PROCESSES=1": {"JAX_NUM_PROCESSES": "1"},
    "where JAX's coordinator is, and no more": {"JAX_COORDINATOR_ADDRESS": "a:1", "JAX_LOCAL_DEVICE_IDS": "0"},
    "a task of SkyPilot on one node": {**recorded.SKYPILOT, "SKYPILOT_NUM_NODES": "1"},
    "a task of dstack on one node": {**recorded.DSTACK, "DSTACK_NODES_NUM": "1"},
    "half of torchrun's variables": {"WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "1"},
}


def environment_of(name: str) -> dict[str, str]:
    return dict(getattr(recorded, name))


def chosen(environ: dict[str, str]) -> str | None:
    return next((finding.kind for finding in explain_detection(environ) if finding.found), None)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_environment_gives_the_place_of_the_process(name: str) -> None:
    kind, num_processes, process_id, coordinator, own_name, local_rank, local_size = EXPECTED[name]
    environ = environment_of(name)
    resolver = detect(environ)
    assert resolver is not None
    found = membership(resolver)
    assert isinstance(found, Membership)
    assert chosen(environment_of(name)) == kind
    assert (found.num_processes, found.process_id, found.coordinator) == (num_processes, process_id, coordinator)
    assert (found.name, found.local_rank, found.local_size) == (own_name, local_rank, local_size)
    assert len(found.names) == num_processes
    assert found.is_chief == (process_id == 0)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_cluster_spec_and_the_task_agree_with_the_place(name: str) -> None:
    resolver = detect(environment_of(name))
    assert resolver is not None
    found, spec = resolver.membership(), resolver.cluster_spec()
    assert resolver.task_type == found.role
    assert sum(spec.num_tasks(job) for job in spec.jobs if job != "evaluator") == found.num_processes
    assert resolver.task_id == found.process_id - ("chief" in spec.jobs)
    assert resolver.master() == resolver.master(resolver.task_type, resolver.task_id) != ""


@pytest.mark.parametrize("name", ALONE)
def test_no_cluster_is_found_where_a_process_is_alone(name: str) -> None:
    assert detect(ALONE[name]) is None
    assert chosen(ALONE[name]) is None


def test_every_kind_is_explained_in_the_order_of_detection() -> None:
    findings = explain_detection({**recorded.TORCHRUN_UNDER_SLURM})
    assert [finding.kind for finding in findings] == KINDS
    slurm = findings[3]
    assert not slurm.found
    assert slurm.reason == "TORCHELASTIC_RUN_ID is set: torchrun started this process, inside a task of SLURM"
    assert slurm.variables["SLURM_PROCID"] == "1"
    assert findings[0].variables == {"UNISONO_CLUSTER": None}


def test_of_two_kinds_the_first_in_the_order_is_taken() -> None:
    everything: dict[str, str] = {}
    for name in (
        "DSTACK",
        "SKYPILOT",
        "TPU_POD",
        "PYTORCH_JOB",
        "OPEN_MPI_5",
        "INDEXED_JOB",
        "SRUN",
        "TF_CONFIG",
        "UNISONO_RUN",
    ):
        everything |= environment_of(name)
    for environment in ("UNISONO_RUN", "TF_CONFIG"):
        assert chosen(everything) == EXPECTED[environment][0]
        del everything[next(iter(environment_of(environment)))]
    without_mpirun = {name: value for name, value in everything.items() if not name.startswith("OMPI_")}
    assert chosen({**without_mpirun, **recorded.TRAIN_JOB}) == "JAX variables"
    assert chosen({**everything, **recorded.TRAIN_JOB}) == "Open MPI"  # which runs inside the pod
    # mpirun runs inside SLURM or Kubernetes, so its numbers are the ones that count.
    assert chosen(everything) == "Open MPI"
    del everything["OMPI_COMM_WORLD_SIZE"]
    for kind, variable in (("SLURM", "SLURM_PROCID"), ("Kubernetes", "JOB_COMPLETION_INDEX"), ("torchrun", "RANK")):
        assert chosen(everything) == kind
        del everything[variable]
    for kind, variable in (("TPU pod", "TPU_WORKER_ID"), ("SkyPilot", "SKYPILOT_NODE_RANK")):
        assert chosen(everything) == kind
        del everything[variable]
    assert chosen(everything) == "dstack"


def test_the_processes_of_torchrun_are_not_the_nodes_of_skypilot() -> None:
    found = explain_detection({**recorded.TORCHRUN_UNDER_SLURM, **recorded.SKYPILOT, "SLURM_PROCID": ""})
    assert [step.kind for step in found if step.found] == ["torchrun"]
    assert "torchrun started this process, inside a task of SkyPilot" in found[KINDS.index("SkyPilot")].reason


def test_two_tasks_on_the_same_nodes_meet_at_different_ports() -> None:
    tasks = [f"sky-2026-01-31-12-00-00-000000_mycluster_{number}" for number in range(50)]
    found = [membership(detect({**recorded.SKYPILOT, "SKYPILOT_TASK_ID": task})) for task in tasks]  # type: ignore[arg-type]
    assert len({one.coordinator for one in found}) == len(tasks)


def launched(num_processes: int) -> dict[str, str]:
    """What `unisono run` tells the first of its workers."""
    cluster = {"version": 1, "coordinator": "127.0.0.1:4100", "num_processes": num_processes, "process_id": 0}
    return {"UNISONO_CLUSTER": json.dumps(cluster)}


def test_what_a_script_sets_itself_counts_for_the_only_worker_of_a_job() -> None:
    """It gets no TF_CONFIG from the launcher: a script wrote it, for the processes that it starts."""
    assert chosen({**launched(1), **recorded.TF_CONFIG}) == "TF_CONFIG"
    assert chosen({**launched(2), **recorded.TF_CONFIG}) == "unisono run"
    for nothing in ("", "{}", '{"task": {"type": "worker", "index": 0}}'):
        assert chosen({**launched(1), "TF_CONFIG": nothing}) == "unisono run"
    reason = explain_detection({**launched(1), **recorded.TF_CONFIG})[0].reason
    assert reason == "the only worker of `unisono run`, and the script has set TF_CONFIG since"


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"TF_CONFIG": "{cluster"}, "TF_CONFIG is not JSON"),
        ({**launched(1), "TF_CONFIG": "{cluster"}, "TF_CONFIG is not JSON"),
        ({"UNISONO_CLUSTER": "{"}, "UNISONO_CLUSTER cannot be read: not JSON"),
        ({**recorded.SRUN, "SLURM_STEP_NUM_TASKS": "many"}, "SLURM_STEP_NUM_TASKS='many' is not a whole number"),
        ({**recorded.SRUN, "SLURM_STEP_NODELIST": "n[1-"}, "'n\\[1-' is not a SLURM hostlist"),
        ({**recorded.TORCHRUN, "RANK": "7"}, "process 7 of 2"),
        ({**recorded.TRAIN_JOB, "JAX_PROCESS_ID": "2"}, "process 2 of 2"),
        ({**recorded.TRAIN_JOB, "JAX_COORDINATOR_ADDRESS": "mnist"}, "JAX_COORDINATOR_ADDRESS: 'mnist' is not an addr"),
        ({"JAX_NUM_PROCESSES": "2"}, "JAX_COORDINATOR_ADDRESS and JAX_PROCESS_ID not set, while JAX_NUM_PROCESSES=2"),
        ({**recorded.SKYPILOT, "SKYPILOT_NODE_IPS": "10.0.0.4"}, "NODE_IPS has 1 addresses .*NUM_NODES is 2"),
        ({**recorded.SKYPILOT, "SKYPILOT_NODE_RANK": "2"}, "'worker' 2, which is not in its cluster"),
        ({**recorded.DSTACK, "DSTACK_NODES_IPS": "", "DSTACK_MASTER_NODE_IP": ""}, "DSTACK_NODES_IPS has 0 addresses"),
        ({**recorded.DSTACK, "DSTACK_NODES_NUM": "two"}, "DSTACK_NODES_NUM='two' is not a whole number"),
        ({"JAX_PROCESS_ID": "1"}, "JAX_COORDINATOR_ADDRESS and JAX_NUM_PROCESSES not set"),
        ({**recorded.INDEXED_JOB, "JOB_COMPLETION_INDEX": "x"}, "JOB_COMPLETION_INDEX='x'"),
    ],
)
def test_a_broken_cluster_is_an_error_and_never_passed_over(environ: dict[str, str], message: str) -> None:
    with pytest.raises((ValueError, RuntimeError), match=message):
        membership(detect({**recorded.DSTACK, **environ}))  # type: ignore[arg-type]
    assert chosen(environ) in KINDS  # and looking raises nothing


def test_without_an_argument_the_environment_of_the_process_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for finding in explain_detection():
        for variable in finding.variables:
            monkeypatch.delenv(variable, raising=False)
    assert detect() is None
    monkeypatch.setenv("TF_CONFIG", recorded.TF_CONFIG["TF_CONFIG"])
    resolver = detect()
    assert resolver is not None
    assert resolver.membership().source == "TF_CONFIG"
