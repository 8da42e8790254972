from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unisono_launch.cluster import SlurmClusterResolver, membership

from . import recorded


def step(hosts: str = "n[1-2]", tasks: str = "2(x2)", count: int = 4, rank: int = 0, **more: str) -> dict[str, str]:
    return {
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_ID": "0",
        "SLURM_PROCID": str(rank),
        "SLURM_STEP_NUM_TASKS": str(count),
        "SLURM_STEP_NODELIST": hosts,
        "SLURM_STEP_TASKS_PER_NODE": tasks,
        **more,
    }


# The arguments, environment and results of TensorFlow 2.21's resolver where it gives one.
@pytest.mark.parametrize(
    ("arguments", "environ", "cluster", "task"),
    [
        (
            {},
            step("t02n13,t02n41,t02n43", "1(x3)", 3),
            {"worker": ["t02n13:8888", "t02n41:8888", "t02n43:8888"]},
            ("worker", 0),
        ),
        (
            {},
            step("t02n[13,41]", "3,2", 5, rank=3),
            {"worker": ["t02n13:8888", "t02n13:8889", "t02n13:8890", "t02n41:8888", "t02n41:8889"]},
            ("worker", 3),
        ),
        (
            {"jobs": {"worker": 2, "ps": 1}, "port_base": 5000},
            step("t02n13,t02n41,t02n43", "1(x3)", 3, rank=1),
            {"ps": ["t02n13:5000"], "worker": ["t02n41:5000", "t02n43:5000"]},
            ("worker", 0),
        ),
        (
            {"tasks_per_node": 2},
            step(rank=2),
            {"worker": ["n1:8888", "n1:8889", "n2:8888", "n2:8889"]},
            ("worker", 2),
        ),
        (
            {"tasks_per_node": {"x": 2, "y": 1}, "jobs": {"worker": 3}},
            step(rank=1),
            {"worker": ["x:8888", "x:8889", "y:8888"]},
            ("worker", 1),
        ),
    ],
)
def test_the_cluster_is_that_of_tensorflow(
    arguments: dict[str, Any], environ: dict[str, str], cluster: dict[str, list[str]], task: tuple[str, int]
) -> None:
    found = SlurmClusterResolver(**arguments, gpus_per_node=0, environ=environ)
    assert found.cluster_spec() == found.cluster_spec()
    assert found.cluster_spec().as_dict() == cluster
    assert found.get_task_info() == task
    assert found.master() == f"grpc://{cluster[task[0]][task[1]]}"
    assert found.master("worker", 1, "x") == f"x://{cluster['worker'][1]}"


def test_hosts_keep_slurms_order_which_is_that_of_the_ranks() -> None:
    # TensorFlow sorts by name: n10 would come first, where process 0 does not run.
    found = SlurmClusterResolver(environ=step("n[2,10]", "1(x2)", 2))
    assert found.cluster_spec().job_tasks("worker") == ["n2:8888", "n10:8888"]


def test_tasks_that_are_dealt_out_are_found_on_their_hosts() -> None:
    found = SlurmClusterResolver(environ=step(tasks="2,1", count=3, SLURM_DISTRIBUTION="cyclic"))
    assert found.cluster_spec().job_tasks("worker") == ["n1:8888", "n2:8888", "n1:8889"]


# As tasks of SLURM 22.05 on the nodes un1 and un2 found it, after SLURM_STEP_NODELIST and SLURM_STEP_NUM_TASKS:
# distribution -> tasks per node, and for each rank its node, its SLURM_LOCALID and the ranks of the node.
RECORDED: dict[str, tuple[str, list[tuple[str, int, str]]]] = {
    "block": ("2,1", [("un1", 0, "0,1"), ("un1", 1, "0,1"), ("un2", 0, "2")]),
    "cyclic": ("2,1", [("un1", 0, "0,2"), ("un2", 0, "1"), ("un1", 1, "0,2")]),
    "plane=1": ("2,1", [("un1", 0, "0,2"), ("un2", 0, "1"), ("un1", 1, "0,2")]),
    "plane=2": (
        "4,3",
        [
            *[("un1", 0, "0,1,4,5"), ("un1", 1, "0,1,4,5"), ("un2", 0, "2,3,6"), ("un2", 1, "2,3,6")],
            *[("un1", 2, "0,1,4,5"), ("un1", 3, "0,1,4,5"), ("un2", 2, "2,3,6")],
        ],
    ),
    "arbitrary": ("1,2", [("un2", 0, "0,2"), ("un1", 0, "1"), ("un2", 1, "0,2")]),
}


def recorded_tasks(distribution: str, **more: str) -> list[dict[str, str]]:
    name, _, plane = distribution.partition("=")
    tasks, places = RECORDED[distribution]
    more |= {"SLURM_DISTRIBUTION": name} | ({"SLURM_DIST_PLANESIZE": plane} if plane else {})
    return [
        step("un[1-2]", tasks, len(places), rank, SLURMD_NODENAME=host, SLURM_LOCALID=str(slot), SLURM_GTIDS=of_node)
        | more
        for rank, (host, slot, of_node) in enumerate(places)
    ]


@pytest.mark.parametrize("distribution", RECORDED)
def test_every_distribution_of_srun_gives_each_task_its_host_and_local_rank(distribution: str, tmp_path: Path) -> None:
    places = RECORDED[distribution][1]
    hosts = tmp_path / "hosts.txt"
    hosts.write_text("".join(f"{host}\n" for host, _, _ in places))
    found = [
        membership(SlurmClusterResolver(environ=environ))
        for environ in recorded_tasks(distribution, SLURM_HOSTFILE=str(hosts))
    ]
    assert [one.name for one in found] == [f"worker {i} at {host}:{8888 + n}" for i, (host, n, _) in enumerate(places)]
    assert [(one.local_rank, one.local_size) for one in found] == [(n, len(s.split(","))) for _, n, s in places]
    assert {one.names for one in found} == {found[0].names}
    assert {one.coordinator for one in found} == {f"{places[0][0]}:61657"}


@pytest.mark.parametrize("text", [None, "un1\nun1\nun2\n", "un2\nun1\n"], ids=["no file", "other tasks", "too few"])
def test_tasks_whose_hosts_are_not_known_need_an_address(text: str | None, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text(text or "")
    of_file = {"SLURM_HOSTFILE": "hosts.txt", "SLURM_SUBMIT_DIR": str(tmp_path)} if text else {}
    for environ in recorded_tasks("arbitrary", **of_file):
        with pytest.raises(
            RuntimeError, match=r"by 'arbitrary', .*srun -m block.*export JAX_COORDINATOR_ADDRESS=host1"
        ):
            membership(SlurmClusterResolver(environ=environ))
    tasks = recorded_tasks("arbitrary", **of_file, JAX_COORDINATOR_ADDRESS="un2:61500")
    found = [membership(SlurmClusterResolver(environ=environ)) for environ in tasks]
    assert [one.name for one in found] == ["worker 0 at un2:8888", "worker 1 at un1:8888", "worker 2 at un2:8889"]
    assert found[1].names == ("worker 0", "worker 1 at un1:8888", "worker 2")
    assert [(one.local_rank, one.local_size) for one in found] == [(0, 2), (0, 1), (1, 2)]
    assert {one.coordinator for one in found} == {"un2:61500"}


def test_a_task_that_slurm_has_placed_elsewhere_does_not_guess() -> None:
    environ = step(rank=1, SLURMD_NODENAME="n2", SLURM_LOCALID="0", SLURM_GTIDS="1,3")
    with pytest.raises(RuntimeError, match="does not say on which host task 0 is"):
        membership(SlurmClusterResolver(environ=environ))


def test_a_coordinator_that_was_named_comes_before_the_host_of_the_first_task() -> None:
    found = membership(SlurmClusterResolver(environ=step(JAX_COORDINATOR_ADDRESS="n1-ib:7000")))
    assert (found.coordinator, found.name) == ("n1-ib:7000", "worker 0 at n1:8888")


def test_the_jobs_variables_serve_where_the_steps_are_missing() -> None:
    environ = {**recorded.SBATCH, "SLURM_STEP_ID": "0", "SLURM_PROCID": "7"}
    environ |= {"SLURM_LOCALID": "3", "SLURMD_NODENAME": "gnode20"}
    found = membership(SlurmClusterResolver(environ=environ))
    assert (found.num_processes, found.name) == (8, "worker 7 at gnode20:8891")


def test_steps_and_jobs_that_share_a_node_meet_at_different_ports() -> None:
    jobs = [(job, number) for job in range(41000, 41020) for number in range(4)]
    environments = [step(SLURM_JOB_ID=str(job)) | {"SLURM_STEP_ID": str(number)} for job, number in jobs]
    meetings = {membership(SlurmClusterResolver(environ=environ)).coordinator for environ in environments}
    assert len(meetings) == len(jobs)


def test_a_port_that_was_given_is_where_they_meet() -> None:
    assert membership(SlurmClusterResolver(port_base=5000, environ=step(rank=3))).coordinator == "n1:5000"


def test_an_evaluator_on_the_first_host_does_not_lead() -> None:
    jobs = {"evaluator": 1, "worker": 3}
    found = [membership(SlurmClusterResolver(jobs, 5000, environ=step(rank=rank))) for rank in range(4)]
    assert [one.role for one in found] == ["evaluator", "worker", "worker", "worker"]
    assert [one.num_processes for one in found] == [1, 3, 3, 3]
    assert {one.coordinator for one in found[1:]} == {"n1:5001"}


@pytest.mark.parametrize(
    ("arguments", "environ", "gpus", "visible"),
    [
        ({}, step(), 0, None),
        ({}, step(CUDA_VISIBLE_DEVICES="0,1,2,3"), 2, "0,1"),
        ({}, step(rank=3, CUDA_VISIBLE_DEVICES="0,1,2,3"), 2, "2,3"),
        ({}, step(rank=3, CUDA_VISIBLE_DEVICES="4,5"), 1, "5"),  # TensorFlow sets 1, which is no GPU of this task
        ({}, step(rank=3, CUDA_VISIBLE_DEVICES="GPU-a1,GPU-b2"), 1, "GPU-b2"),
        ({"gpus_per_node": 4}, step(rank=3), 2, "2,3"),
        ({"gpus_per_node": 8, "gpus_per_task": 1}, step(rank=1), 1, "1"),
        ({"auto_set_gpu": False}, step(rank=3, CUDA_VISIBLE_DEVICES="0,1"), 1, "0,1"),
        # Divided by SLURM already. TensorFlow's resolver divides by zero here.
        ({}, recorded.SRUN_GPU_PER_TASK, 1, "1"),
        ({}, step(rank=1, CUDA_VISIBLE_DEVICES="3"), 1, "3"),
        ({}, step(CUDA_VISIBLE_DEVICES="2,3", SLURM_GPUS_ON_NODE="4"), 2, "2,3"),
        ({}, step(CUDA_VISIBLE_DEVICES="2,3", SLURM_TRES_PER_TASK="cpu=4,gres/gpu=2"), 2, "2,3"),
        ({}, step(CUDA_VISIBLE_DEVICES="NoDevFiles"), 0, "NoDevFiles"),
    ],
)
def test_each_task_sees_its_share_of_the_gpus(
    arguments: dict[str, Any], environ: dict[str, str], gpus: int, visible: str | None
) -> None:
    environ = dict(environ)
    before = dict(environ)
    found = SlurmClusterResolver(**arguments, environ=environ)
    assert environ == before  # until the cluster is asked for
    for _ in range(2):
        found.cluster_spec()
        assert environ.get("CUDA_VISIBLE_DEVICES") == visible
    assert found.num_accelerators() == {"GPU": gpus}


@pytest.mark.parametrize(
    ("arguments", "environ", "message"),
    [
        ({}, {}, r"not inside an srun step. Start it with `srun python train.py`"),
        ({}, recorded.SBATCH, "not inside an srun step"),
        ({"jobs": {"worker": 9}}, step(), r"Requested 9 tasks .* but SLURM assigned 4 .*srun --ntasks=9"),
        (
            {"gpus_per_node": 2, "gpus_per_task": 2},
            step(),
            "Requested more GPUs per node than available: 2 tasks with 2",
        ),
        ({}, step(tasks="2"), r"SLURM names 2 nodes \(\['n1', 'n2'\]\) and the tasks of 1 \(2\)"),
        ({}, step(rank=4), "SLURM_PROCID=4 is beyond the 4 tasks"),
        ({}, {"SLURM_STEP_ID": "0", "SLURM_PROCID": "0"}, "Neither SLURM_STEP_NODELIST nor SLURM_JOB_NODELIST"),
    ],
)
def test_what_slurm_did_not_give_is_a_runtime_error(
    arguments: dict[str, Any], environ: dict[str, str], message: str
) -> None:
    with pytest.raises(RuntimeError, match=message):
        SlurmClusterResolver(**arguments, environ=environ)
