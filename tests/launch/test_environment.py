"""What workers find in their environment."""

import json
import os
import socket

import pytest

from .environments import SLURM

pytestmark = pytest.mark.timeout(60)

HOST = socket.gethostname()
DUMP = "import json; Path(f'environ-{rank}').write_text(json.dumps(dict(os.environ)))"


def read(folder, rank: int) -> dict[str, str]:
    found = json.loads((folder / f"environ-{rank}").read_text())
    assert isinstance(found, dict)
    return found


def test_each_worker_knows_the_job_and_its_place_in_it(run, tmp_path):
    code, _, _ = run(DUMP, "-n", "2", "--devices", "cpu:2", "--name", "here", env={"TF_CONFIG": ""})
    assert code == 0
    for rank in (0, 1):
        environ = read(tmp_path, rank)
        cluster = json.loads(environ["UNISONO_CLUSTER"])
        host, port = cluster.pop("coordinator").split(":")
        assert host == "127.0.0.1"
        assert cluster == {
            "version": 1,
            "num_processes": 2,
            "process_id": rank,
            "names": [f"worker 0 on {HOST}", f"worker 1 on {HOST}"],
            "local": {"rank": rank, "size": 2},
        }
        tf_config = json.loads(environ["TF_CONFIG"])
        assert tf_config["task"] == {"type": "worker", "index": rank}
        assert len(set(tf_config["cluster"]["worker"])) == 2
        assert tf_config["cluster"]["worker"][0] == f"127.0.0.1:{port}"
        torchrun = [environ[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")]
        assert torchrun == [str(rank), "2", str(rank), "2"]
        assert (environ["MASTER_ADDR"], environ["MASTER_PORT"]) == ("127.0.0.1", port)
        assert environ["UNISONO_RUN_DIR"] == str(tmp_path / "runs/here")
        assert environ["UNISONO_STATUS"] == str(tmp_path / f"runs/here/logs/attempt-0/worker-{rank}.status")
        assert environ["UNISONO_ATTEMPT"] == "0"
        assert environ["PYTHONUNBUFFERED"] == "1"
        assert (environ["UNISONO_CPU_DEVICES"], environ["JAX_PLATFORMS"]) == ("2", "cpu")
        assert int(environ["NPROC"]) >= 4
    secrets = {read(tmp_path, rank)["UNISONO_JOB_SECRET"] for rank in (0, 1)}
    assert len(secrets) == 1, "drawn for the workers of this attempt"
    assert len(secrets.pop()) == 32


def test_workers_with_devices_of_their_own_do_not_choose_among_those_of_the_launcher(run, tmp_path):
    chosen = {"JAX_LOCAL_DEVICE_IDS": "3"}
    code, _, _ = run(DUMP, "-n", "2", "--devices", "cpu:1", "--name", "here", env=chosen)
    assert code == 0
    assert all("JAX_LOCAL_DEVICE_IDS" not in read(tmp_path, rank) for rank in (0, 1))


@pytest.mark.slow
def test_one_worker_sees_that_it_is_alone(run, tmp_path):
    """So that it does not believe what is left in the shell of another job."""
    other = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'
    code, _, _ = run(DUMP, "--nnodes", "1", env={"TF_CONFIG": other})
    assert code == 0
    environ = read(tmp_path, 0)
    assert json.loads(environ["UNISONO_CLUSTER"])["num_processes"] == 1
    assert "TF_CONFIG" not in environ
    assert "UNISONO_JOB_SECRET" not in environ, "its script may connect it to workers of other launchers"


@pytest.mark.slow
def test_a_task_of_a_cluster_with_parameter_servers_keeps_its_tf_config(run, tmp_path):
    cluster = {"chief": ["c:1"], "worker": ["a:1"], "ps": ["b:1"]}
    given = json.dumps({"cluster": cluster, "task": {"type": "ps", "index": 0}})
    code, _, err = run(DUMP, env={"TF_CONFIG": given, "UNISONO_JOB_SECRET": "of the job"})
    assert (code, err) == (0, "")
    environ = read(tmp_path, 0)
    assert environ["TF_CONFIG"] == given
    assert environ["UNISONO_JOB_SECRET"] == "of the job"


def test_gpus_of_a_machine_are_divided(run, tmp_path):
    code, _, _ = run(DUMP, "-n", "2", env={"CUDA_VISIBLE_DEVICES": "3,5,7,9"})
    assert code == 0
    assert [read(tmp_path, rank)["CUDA_VISIBLE_DEVICES"] for rank in (0, 1)] == ["3,5", "7,9"]


@pytest.mark.slow
def test_the_process_list_shows_nothing_but_the_program(run, tmp_path):
    run("Path('argv').write_text(Path('/proc/self/cmdline').read_text())", "-n", "1", args=("--lr", "1"))
    if os.path.exists("/proc/self"):
        assert (tmp_path / "argv").read_text().split("\0")[1:] == ["script.py", "--lr", "1", ""]


@pytest.mark.slow
def test_two_machines_find_the_same_ports_and_names(start, tmp_path):
    """The same command twice, with the flags of two machines; both are this one."""
    launchers = [
        start(
            DUMP + "\nif attempt == 0: sys.exit(3)",
            *("-n", "2", "--nnodes", "2", "--node-rank", str(rank), "--master-addr", "127.0.0.1"),
            *("--master-port", "19450", "--name", "both", "--max-restarts", "1"),
        )
        for rank in (0, 1)
    ]
    assert [launcher.finish()[0] for launcher in launchers] == [0, 0]
    environs = [read(tmp_path, rank) for rank in range(4)]
    assert {environ["MASTER_PORT"] for environ in environs} == {"19451"}, "the second attempt takes the next port"
    clusters = [json.loads(environ["UNISONO_CLUSTER"]) for environ in environs]
    assert [cluster["process_id"] for cluster in clusters] == [0, 1, 2, 3]
    assert {cluster["coordinator"] for cluster in clusters} == {"127.0.0.1:19451"}
    assert [cluster["local"] for cluster in clusters] == [{"rank": rank, "size": 2} for rank in (0, 1, 0, 1)]
    logs = sorted(path.name for path in (tmp_path / "runs/both/logs/attempt-1").glob("*.log"))
    assert logs == [f"worker-{rank}.log" for rank in range(4)]


def test_slurm_tells_all_that_is_needed(run, tmp_path):
    code, out, err = run(DUMP + "\nprint('hello')", "-n", "2", env=SLURM | {"UNISONO_JOB_SECRET": "ours"})
    assert code == 0
    assert sorted(out.splitlines()) == ["[worker 2] hello", "[worker 3] hello"]
    environ = read(tmp_path, 3)
    first = int(environ["MASTER_PORT"])
    assert f"starts 2 of 4 workers, coordinator at gnode10:{first}" in err
    assert json.loads(environ["UNISONO_CLUSTER"])["names"] == [
        f"worker {rank} on {host}" for rank, host in enumerate(["gnode10", "gnode10", "gnode20", "gnode20"])
    ]
    assert json.loads(environ["TF_CONFIG"]) == {
        "cluster": {"worker": [f"{host}:{port}" for host in ("gnode10", "gnode20") for port in (first, first + 100)]},
        "task": {"type": "worker", "index": 3},
    }
    assert environ["UNISONO_RUN_DIR"] == str(tmp_path / "runs/script-200505")
    assert environ["UNISONO_JOB_SECRET"] == "ours"


def test_several_machines_need_a_name_for_the_run(run):
    code, _, err = run("", "--nnodes", "2", "--node-rank", "0", "--master-addr", "127.0.0.1")
    assert code == 2
    assert "Add --name, on all of them the same, as in --name script" in err
