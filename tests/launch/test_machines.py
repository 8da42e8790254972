"""Which machines take part: flags, clusters, one machine."""

import json
import socket

import pytest

from unisono_launch.cluster import detect, membership, split_address
from unisono_launch.launch._machines import Machines, find_machines
from unisono_launch.launch._options import LaunchOptions, SizeRange, UsageError
from unisono_launch.launch._run_folder import make_run_folder

from .environments import SLURM

PROGRAM = ("-m", "module")
KUBERNETES = {
    "JOB_COMPLETION_INDEX": "1",
    "HOSTNAME": "train-1",
    "UNISONO_NUM_NODES": "2",
    "UNISONO_SUBDOMAIN": "svc",
}
TF_CONFIG = {
    "TF_CONFIG": json.dumps(
        {"cluster": {"worker": ["hosta:2222", "hostb:2222"]}, "task": {"type": "worker", "index": 1}}
    )
}

SKYPILOT = {"SKYPILOT_NODE_RANK": "1", "SKYPILOT_NUM_NODES": "2", "SKYPILOT_NODE_IPS": "10.0.0.4\n10.0.0.5"}


def port_of(environ: dict[str, str]) -> int:
    resolver = detect(environ)
    assert resolver is not None
    return split_address(str(membership(resolver).coordinator))[1]


def found(environ: dict[str, str] | None = None, **options) -> Machines:
    return find_machines(LaunchOptions(program=PROGRAM, **options), environ or {})


def test_without_anything_this_machine_is_alone_on_the_loopback_interface():
    machines = found()
    assert machines.is_single
    assert (machines.master_address, machines.master_port, machines.hosts) == (
        "127.0.0.1",
        None,
        (socket.gethostname(),),
    )


def test_flags_name_the_first_machine_and_this_one():
    machines = found(nnodes=3, node_rank=1, master_addr="10.0.0.1")
    assert (machines.rank, machines.master_address, machines.master_port) == (1, "10.0.0.1", 29500)
    assert machines.hosts == ("10.0.0.1", socket.gethostname(), "")
    assert machines.worker_names(1)[2] == "worker 2 on machine 2"
    assert not machines.hosts_agreed


def test_torchruns_flags_for_one_machine_stay_on_the_loopback_interface():
    machines = found(nnodes=1, node_rank=0, master_addr="10.0.0.1", master_port=1234)
    assert machines.is_single
    assert (machines.master_address, machines.master_port) == ("127.0.0.1", 1234)


@pytest.mark.parametrize(
    ("environ", "hosts", "port", "job"),
    [
        (SLURM, ("gnode10", "gnode20"), port_of(SLURM), "200505"),
        (KUBERNETES, ("train-0.svc", "train-1.svc"), 8470, None),
        (TF_CONFIG, ("hosta", "hostb"), 2222, None),
        (SKYPILOT, ("10.0.0.4", "10.0.0.5"), port_of(SKYPILOT), None),
    ],
    ids=["SLURM", "Kubernetes", "TF_CONFIG", "SkyPilot"],
)
def test_a_cluster_is_found(environ, hosts, port, job):
    machines = found(environ)
    assert (machines.rank, machines.hosts, machines.hosts_agreed) == (1, hosts, True)
    assert (machines.master_address, machines.master_port, machines.job_id) == (hosts[0], port, job)
    assert found(environ, nnodes=2) == found(environ, nnodes=SizeRange(1, 4)) == machines
    assert found(environ, master_port=5).master_port == 5


def test_another_step_of_an_allocation_has_another_name():
    assert found(SLURM | {"SLURM_STEP_ID": "2"}).job_id == "200505.2"


def test_machines_that_mpirun_has_started_in_a_job_of_slurm_agree_on_its_name():
    """Those that are not the first are in a step of SLURM's, which they inherit from mpirun's daemons."""
    in_step = TF_CONFIG | {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "1"}
    assert found(in_step).job_id == found(TF_CONFIG | {"SLURM_JOB_ID": "7"}).job_id == "7"


ONE_TASK = {"SLURM_JOB_ID": "7", "SLURM_STEP_ID": "0", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}


def test_one_task_of_slurm_has_a_folder_that_it_finds_again_after_a_requeue(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = LaunchOptions(program=PROGRAM)
    folders = [
        make_run_folder(options, found(ONE_TASK | more), num_requeues=num_requeues).name
        for more, num_requeues in [
            ({}, 0),
            ({}, 1),
            ({"SLURM_STEP_ID": "3"}, 0),
            ({}, 0),  # another command in the shell of `srun --pty bash`
        ]
    ]
    assert folders == ["module-7", "module-7", "module-7.3", "module-7-2"]


def start_in_step(step: str, *words: str, num_requeues: int = 0) -> str:
    """The name of the folder that one command of a step of job 7 gets."""
    machines = found(ONE_TASK | {"SLURM_STEP_ID": step})
    return make_run_folder(LaunchOptions(program=(*PROGRAM, *words)), machines, num_requeues=num_requeues).name


def test_after_a_requeue_each_command_of_a_step_continues_in_its_own_folder(tmp_path, monkeypatch, capsys):
    """As in `srun -n1 bash -c 'for lr in 0.1 0.2; do unisono run train.py --lr $lr; done'`."""
    monkeypatch.chdir(tmp_path)
    assert [start_in_step("0", rate) for rate in ("0.1", "0.2", "0.2")] == ["module-7", "module-7-2", "module-7-3"]
    for number in (1, 2):
        # The script leaves out the first command, which was done.
        later = [start_in_step("0", rate, num_requeues=number) for rate in ("0.2", "0.2", "0.3")]
        assert later == ["module-7-2", "module-7-3", "module-7-4"]
    assert start_in_step("0", "0.2", num_requeues=2) == "module-7-5", "no two commands share a folder"
    assert capsys.readouterr().err == ""


def test_after_a_requeue_a_command_that_does_not_find_its_folder_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert start_in_step("0", "--seed=17") == "module-7"
    assert start_in_step("0", "--seed=42", num_requeues=1) == "module-7-2"
    assert "runs/module-7 is of a command with other arguments. This one starts anew in runs/module-7-2. If its " in (
        capsys.readouterr().err
    )


def test_after_a_requeue_steps_that_have_swapped_their_numbers_find_their_folders(tmp_path, monkeypatch):
    """As `srun … & srun … &` may; and a folder of job 70 is none of job 7."""
    monkeypatch.chdir(tmp_path)
    assert [start_in_step("0", "a"), start_in_step("1", "b")] == ["module-7", "module-7.1"]
    other = found(ONE_TASK | {"SLURM_JOB_ID": "70"})
    assert make_run_folder(LaunchOptions(program=(*PROGRAM, "c")), other).name == "module-70"
    assert start_in_step("0", "b", num_requeues=1) == "module-7.1"
    assert start_in_step("1", "a", num_requeues=1) == "module-7"
    assert start_in_step("2", "c", num_requeues=1) == "module-7.2"


def test_steps_of_one_command_keep_the_folders_of_their_numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [start_in_step("1"), start_in_step("0")] == ["module-7.1", "module-7"]
    assert [start_in_step(step, num_requeues=1) for step in ("1", "0")] == ["module-7.1", "module-7"]


def test_tasks_that_run_alone_side_by_side_do_not_share_a_folder():
    assert found(SLURM, nnodes=1).job_id is None
    assert found(ONE_TASK | {"UNISONO_JOB": "f00"}).job_id is None


def test_a_task_of_a_cluster_with_parameter_servers_is_started_alone():
    cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}
    for job in cluster:
        config = json.dumps({"cluster": cluster, "task": {"type": job, "index": 0}})
        assert found({"TF_CONFIG": config}).is_single


def test_one_machine_can_be_asked_for_inside_of_a_cluster():
    assert found(SLURM, nnodes=1).is_single


def test_a_job_inside_of_a_worker_is_one_of_its_own():
    assert found(SLURM | {"UNISONO_JOB": "f00"}).is_single


@pytest.mark.parametrize(
    ("environ", "options", "message"),
    [
        ({}, {"nnodes": 2}, "Add --node-rank R --master-addr A, where A is the first machine's address."),
        ({}, {"nnodes": 2, "node_rank": 0}, "needs --master-addr A too"),
        ({}, {"nnodes": 2, "master_addr": "a"}, "needs --node-rank R too"),
        ({}, {"master_addr": "a"}, "needs --nnodes N and --node-rank R too"),
        ({}, {"nnodes": SizeRange(1, 2)}, "--nnodes 1:2, and neither SLURM nor"),
        ({}, {"nnodes": SizeRange(1, 2), "node_rank": 0}, "needs --master-addr A too"),
        (SLURM, {"nnodes": SizeRange(3, 4)}, "--nnodes 3:4, but SLURM_.* names 2 machines. Leave --nnodes out."),
        (SLURM, {"nnodes": 3}, "--nnodes 3, but SLURM_.* names 2 machines. Leave --nnodes out."),
        ({"TF_CONFIG": "{"}, {}, "(?s)TF_CONFIG is not JSON.*Or say that this machine is alone: --nnodes 1"),
        (
            {"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "evaluator", "index": 0}}'},
            {},
            "this is the evaluator, which trains alone. Start it with python.",
        ),
    ],
)
def test_what_is_missing_is_said(environ, options, message):
    with pytest.raises(UsageError, match=message):
        found(environ, **options)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("10.1.2.3", False),
        ("192.168.0.1", False),
        ("172.20.0.1", False),
        ("127.0.0.1", False),
        ("169.254.1.1", False),
        ("fd00::2", False),
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("no-such-host.invalid", False),
    ],
)
def test_a_public_address_is_warned_of(address, public):
    warning = found(nnodes=2, node_rank=0, master_addr=address).public_address_warning(has_secret=False)
    assert (warning is not None) == public
    if warning is not None:
        assert "can join the job, which has no UNISONO_JOB_SECRET. Name an address of a private network" in warning


def test_the_warning_of_a_public_address_knows_of_the_secret():
    warning = found(nnodes=2, node_rank=0, master_addr="8.8.8.8").public_address_warning(has_secret=True)
    assert warning is not None
    assert "can end the job: the connections of JAX itself have no password. Name" in warning
