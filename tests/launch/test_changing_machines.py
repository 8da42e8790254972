"""--nnodes MIN:MAX: machines come and go. Each machine is one launcher here, all on this host."""

import itertools
import json
import signal
import socket
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from unisono_launch.launch._ports import hold_free_ports, launcher_port

pytestmark = pytest.mark.timeout(60)

HOST = socket.gethostname()

# Every worker leaves a note of what it sees: seen-ATTEMPT-NODE holds its rank and the number of workers.
SEEN = """
    node = os.environ["NODE"]
    note = Path(f"seen-{attempt}-{node}")
    note.with_suffix(".new").write_text(f"{rank} of {size}, {os.environ['MASTER_PORT']}, {os.getpid()}")
    note.with_suffix(".new").rename(note)
"""


class Cluster:
    """Machines of one job, by node rank."""

    def __init__(self, start, folder: Path, script: str, nnodes: str, *flags: str) -> None:
        with hold_free_ports(1) as (port,):
            self.port = port
        self.folder = folder
        self.machines = {}
        self._start, self._script = start, textwrap.dedent(SEEN) + textwrap.dedent(script)
        self._flags = ("--nnodes", nnodes, "--master-addr", "127.0.0.1", "--master-port", str(port), "--name", "job")
        self._flags += flags

    def add(self, *nodes: int, flags: tuple[str, ...] = (), **env: str) -> None:
        """Starts the launchers of machines. The coordinator last, where its window is short."""
        for node in nodes:
            rank = ("--node-rank", str(node))
            self.machines[node] = self._start(self._script, *self._flags, *rank, *flags, env={**env, "NODE": str(node)})

    def wait_for(self, *files: str) -> None:
        deadline = time.monotonic() + 30
        while missing := [name for name in files if not (self.folder / name).exists()]:
            assert time.monotonic() < deadline, (missing, sorted(path.name for path in self.folder.iterdir()))
            time.sleep(0.01)

    def kill(self, node: int) -> None:
        self.machines[node].send(signal.SIGKILL)
        self.machines[node].finish()

    def finish(self) -> dict[int, int]:
        """Exit codes; what was written to standard error is kept in `errors`."""
        ends = {node: machine.finish() for node, machine in self.machines.items()}
        self.errors = {node: err for node, (_, _, err) in ends.items()}
        return {node: code for node, (code, _, _) in ends.items()}

    def seen(self, attempt: int) -> dict[int, str]:
        """What the workers of an attempt saw, by machine."""
        notes = self.folder.glob(f"seen-{attempt}-?")
        return {int(note.name[-1]): note.read_text().partition(",")[0] for note in sorted(notes)}

    def process_of(self, attempt: int, node: int) -> int:
        return int((self.folder / f"seen-{attempt}-{node}").read_text().split(", ")[2])


Make = Callable[..., Cluster]


@pytest.fixture
def cluster(start, tmp_path) -> Make:
    return lambda *args: Cluster(start, tmp_path, *args)


def assert_one_coordinator_port(job, ports):
    """At the port that was given, or at the next one that is free, if that was taken meanwhile."""
    (port,) = map(int, ports)
    assert job.port <= port < job.port + 10


@pytest.mark.slow
def test_all_machines_come_in_any_order(cluster):
    job = cluster("pass", "1:3")
    job.add(2, 1)
    job.add(0)
    assert job.finish() == {0: 0, 1: 0, 2: 0}
    assert job.seen(0) == {0: "0 of 3", 1: "1 of 3", 2: "2 of 3"}
    ports = {note.read_text().split(", ")[1] for note in job.folder.glob("seen-0-?")}
    assert_one_coordinator_port(job, ports)


@pytest.mark.slow
def test_each_worker_knows_the_whole_job(cluster, tmp_path):
    job = cluster("import json; Path(f'environ-{rank}').write_text(json.dumps(dict(os.environ)))", "1:2", "-n", "2")
    job.add(1, 0)
    assert job.finish() == {0: 0, 1: 0}
    coordinators = []
    for rank in range(4):
        environ = json.loads((tmp_path / f"environ-{rank}").read_text())
        cluster_of = json.loads(environ["UNISONO_CLUSTER"])
        coordinators.append(cluster_of.pop("coordinator"))
        assert cluster_of == {
            "version": 1,
            "num_processes": 4,
            "process_id": rank,
            "names": [f"worker {i} on {HOST}" for i in range(4)],
            "local": {"rank": rank % 2, "size": 2},
        }
        assert json.loads(environ["TF_CONFIG"])["task"] == {"type": "worker", "index": rank}
        assert environ["UNISONO_RUN_DIR"] == str(tmp_path / "runs/job")
    assert {address.split(":")[0] for address in coordinators} == {"127.0.0.1"}
    assert_one_coordinator_port(job, {address.split(":")[1] for address in coordinators})


@pytest.mark.slow
def test_a_machine_that_never_comes_is_not_waited_for_longer_than_the_window(cluster):
    job = cluster("pass", "1:3", "--join-window", "2.5")
    job.add(2, 0)
    assert job.finish() == {0: 0, 2: 0}
    assert job.seen(0) == {0: "0 of 2", 2: "1 of 2"}
    assert "unisono: machine 1 did not connect within 2.5 s. The job continues without." in job.errors[0]


@pytest.mark.slow
def test_when_a_launcher_is_killed_the_job_continues_with_fewer(cluster, tmp_path):
    job = cluster("time.sleep(0 if attempt else 60)", "1:3", "--join-window", "2.5")
    job.add(1, 2, 0)
    job.wait_for("seen-0-0", "seen-0-1", "seen-0-2")
    job.kill(1)
    del job.machines[1]
    assert job.finish() == {0: 0, 2: 0}
    assert job.seen(1) == {0: "0 of 2", 2: "1 of 2"}
    assert not Path(f"/proc/{job.process_of(0, 1)}").exists(), "its worker died with it"
    lost = f"unisono: worker 1 on {HOST} was lost with its machine (the connection was closed). All workers restart"
    assert f"{lost}: attempt 1, 2 restarts left." in job.errors[0]
    assert lost in job.errors[2]
    assert f"machine 1 ({HOST}) did not connect within 2.5 s" in job.errors[0]


@pytest.mark.slow
def test_a_machine_that_comes_back_within_the_window_is_there_in_the_next_attempt(cluster):
    job = cluster("time.sleep(0 if attempt else 60)", "1:2", "--join-window", "30")
    job.add(1, 0)
    job.wait_for("seen-0-0", "seen-0-1")
    job.kill(1)
    job.add(1)
    assert job.finish() == {0: 0, 1: 0}
    assert job.seen(1) == {0: "0 of 2", 1: "1 of 2"}


@pytest.mark.slow
def test_a_machine_that_comes_late_takes_part_in_the_next_attempt(cluster):
    job = cluster(
        """
    if attempt == 0:
        until("late")
        sys.exit(3)
    """,
        "1:2",
        "--join-window",
        "0.5",
    )
    job.add(0)
    job.wait_for("seen-0-0")
    job.add(1)
    job.machines[0].wait_for_text("has joined, and takes part from the next attempt on")
    (job.folder / "late").touch()
    assert job.finish() == {0: 0, 1: 0}
    assert job.seen(0) == {0: "0 of 1"}
    assert job.seen(1) == {0: "0 of 2", 1: "1 of 2"}


@pytest.mark.slow
def test_too_few_machines_are_an_error_that_names_the_missing_ones(cluster):
    job = cluster("pass", "3:4", "--join-window", "2")
    began = time.monotonic()
    job.add(2, 0)
    assert job.finish() == {0: 2, 2: 2}
    assert time.monotonic() - began < 10
    sentence = (
        f"2 of at least 3 machines connected to 127.0.0.1:{launcher_port(job.port)} within 2 s. "
        "Missing: machine 1, machine 3. Start `unisono run` there with the same flags, or wait longer: --join-window 4"
    )
    assert sentence in job.errors[0]
    assert sentence in job.errors[2]
    assert not job.seen(0)


@pytest.mark.full
def test_too_few_machines_after_a_loss_end_the_job_with_its_code(cluster):
    job = cluster("time.sleep(60)", "2:3", "--join-window", "2.5")
    job.add(1, 0)
    job.wait_for("seen-0-0", "seen-0-1")
    job.kill(1)
    del job.machines[1]
    assert job.finish() == {0: 69}
    assert f"Missing: machine 1 ({HOST}), machine 2." in job.errors[0]


def test_a_machine_that_finds_no_coordinator_says_so(cluster):
    job = cluster("pass", "1:2", "--join-window", "0.5")
    job.add(1)
    assert job.finish() == {1: 2}
    address = f"127.0.0.1:{launcher_port(job.port)}"
    reason = f"The launcher of node rank 0 could not be reached at {address} within 0.5 s: Connection refused."
    assert reason in job.errors[1]


@pytest.mark.slow
def test_without_its_coordinator_a_launcher_ends(cluster):
    job = cluster("time.sleep(60)", "1:2")
    job.add(1, 0)
    job.wait_for("seen-0-0", "seen-0-1")
    job.kill(0)
    del job.machines[0]
    assert job.finish() == {1: 69}
    gone = "is gone (the connection was closed), and no other can coordinate the job. Start it again on all machines."
    assert gone in job.errors[1]
    assert not Path(f"/proc/{job.process_of(0, 1)}").exists()


@pytest.mark.full
@pytest.mark.parametrize("stopped", [0, 1])
def test_a_launcher_that_is_stopped_is_gone_after_a_while(cluster, stopped):
    job = cluster("time.sleep(60 if size == 2 else 0)", "1:2", "--join-window", "1")
    job.add(1, 0)
    job.wait_for("seen-0-0", "seen-0-1")
    job.machines[stopped].send(signal.SIGSTOP)
    other = job.machines.pop(1 - stopped)
    code, _, err = other.finish()
    assert code == (0 if stopped else 69)
    assert "no sign of life for 20 s" in err
    job.machines[stopped].send(signal.SIGCONT)
    assert job.finish() == {stopped: 69 if stopped else 0}, "a coordinator continues alone"


@pytest.mark.slow
def test_a_failure_ends_the_job_on_all_machines_once_restarts_are_used_up(cluster):
    job = cluster("if rank == 1: raise ValueError('boom')\ntime.sleep(60)", "1:3", "--max-restarts", "1")
    job.add(1, 2, 0)
    assert job.finish() == {0: 1, 1: 1, 2: 1}
    assert len(job.seen(0)) == len(job.seen(1)) == 3
    assert not job.seen(2)
    assert job.errors[0].endswith("    ValueError: boom\n"), "the coordinator shows what happened on another machine"
    assert "Log: runs/job/logs/attempt-1/worker-1.log" in job.errors[0]
    assert f"the job has ended on all machines: worker 1 on {HOST} failed with exit code 1." in job.errors[2]


@pytest.mark.slow
def test_preempted_workers_start_again_on_all_machines_without_using_up_a_restart(cluster):
    job = cluster("sys.exit(0 if attempt else 75)", "1:2", "--max-restarts", "1")
    job.add(1, 0)
    assert job.finish() == {0: 0, 1: 0}
    assert len(job.seen(1)) == 2
    assert "(exit code 75). All workers restart in 1 s: attempt 1, 1 restart left." in job.errors[0]


# Saves when it gets SIGTERM, and then its peers do too; takes its time for it.
SAVES = """
    def save(*_):
        Path("saving").touch()
    signal.signal(signal.SIGTERM, save)
    note.with_suffix(".ready").touch()
    if attempt == 0:
        until("saving")
        time.sleep(2)
        Path(f"saved-{node}").touch()
        sys.exit(75)
"""
READY = ("seen-0-0.ready", "seen-0-1.ready", "seen-0-2.ready")


@pytest.mark.slow
def test_a_machine_that_is_preempted_leaves_and_the_job_continues(cluster):
    job = cluster(SAVES, "1:3", "--max-restarts", "1")
    job.add(1, 2, 0)
    job.wait_for(*READY)
    job.machines[1].send(signal.SIGTERM)
    assert job.finish() == {0: 0, 1: 75, 2: 0}
    job.wait_for("saved-0", "saved-1", "saved-2")
    assert job.seen(1) == {0: "0 of 2", 2: "1 of 2"}
    assert "1 restart left" in job.errors[0]
    assert "did not connect" not in job.errors[0], "a machine that says that it leaves is not waited for"


@pytest.mark.slow
def test_a_machine_that_leaves_after_a_failure_was_not_preempted_though_one_of_its_workers_has_saved(cluster):
    job = cluster(
        """
    def save(*_):
        if rank == 3:
            Path("saved").touch()
            sys.exit(75)
    signal.signal(signal.SIGTERM, save)
    Path(f"ready-{rank}").touch()
    if attempt == 0:
        until(*(f"ready-{i}" for i in range(4)))
        if rank == 2:
            sys.exit(1)
        time.sleep(60)  # the coordinator has to kill its workers, and the other machine waits meanwhile
    """,
        "1:2",
        *("-n", "2", "--join-window", "2"),
    )
    job.add(1, 0)
    job.wait_for("saved")
    time.sleep(1)
    job.machines[1].send(signal.SIGTERM)
    assert job.finish() == {0: 0, 1: 143}


@pytest.mark.slow
def test_sigterm_to_the_coordinator_ends_the_job_everywhere(cluster):
    job = cluster(SAVES, "1:3")
    job.add(1, 2, 0)
    job.wait_for(*READY)
    job.machines[0].send(signal.SIGTERM)
    assert job.finish() == {0: 75, 1: 75, 2: 75}
    job.wait_for("saved-0", "saved-1", "saved-2")
    assert not job.seen(1)


@pytest.mark.slow
def test_signals_end_launchers_that_wait_for_machines(cluster):
    job = cluster("pass", "3:4")
    job.add(1, 2, 0)
    for node in (1, 2):
        job.machines[node].wait_for_text("and waits for the next attempt")
    job.machines[2].send(signal.SIGINT)
    assert job.machines.pop(2).finish()[0] == 130
    job.machines[0].send(signal.SIGTERM)
    assert job.finish() == {0: 143, 1: 143}


@pytest.mark.slow
def test_a_machine_whose_worker_is_lost_again_and_again_is_left_out(cluster):
    job = cluster("if node == '1': os.kill(os.getpid(), signal.SIGKILL)", "1:3", "--join-window", "20")
    job.add(1, 2, 0)
    assert job.finish() == {0: 0, 1: 69, 2: 0}
    assert [len(job.seen(attempt)) for attempt in range(4)] == [3, 3, 2, 0]
    assert f"machine 1 ({HOST}) is left out from now on: it was lost in two successive attempts" in job.errors[0]
    assert "the job continues without this machine: its workers were lost in two successive attempts" in job.errors[1]


SECRETS = [
    ("right", "right", None),
    ("right", "wrong", "UNISONO_JOB_SECRET is not that of the job. Set it to the same value on all machines."),
    ("right", "", "UNISONO_JOB_SECRET is not that of the job."),
    ("", "right", "does not know UNISONO_JOB_SECRET. Set it to the same value on all machines."),
]


@pytest.mark.slow
@pytest.mark.parametrize(("coordinators", "joining", "refusal"), SECRETS)
def test_without_the_secret_a_launcher_can_neither_join_nor_coordinate(cluster, coordinators, joining, refusal):
    job = cluster(
        "Path(f'secret-{node}').write_text(os.environ.get('UNISONO_JOB_SECRET', ''))", "1:2", "--join-window", "3"
    )
    job.add(1, UNISONO_JOB_SECRET=joining)
    job.add(0, UNISONO_JOB_SECRET=coordinators)
    assert job.finish() == {0: 0, 1: 0 if refusal is None else 2}
    assert len(job.seen(0)) == (2 if refusal is None else 1)
    assert (job.folder / "secret-0").read_text() == coordinators, "workers prove it to each other too"
    if refusal is not None:
        assert refusal in job.errors[1]
    if coordinators and refusal is not None:
        assert "a launcher at 127.0.0.1 was refused: UNISONO_JOB_SECRET is not set there, or differs." in job.errors[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "refusal"),
    [
        (("-n", "2"), "2 workers there and 1 here. Give the same -n on all machines."),
        (("--nnodes", "1:4"), "--nnodes is 1:4 there and 1:2 here. Give the same on all machines."),
        (("--nnodes", "1:4", "--node-rank", "3"), "there is no machine 3. Give --node-rank 1 to 1."),
    ],
)
def test_launchers_that_do_not_fit_are_refused(cluster, flags, refusal):
    job = cluster("pass", "1:2", "--join-window", "2")
    job.add(1, flags=flags)
    job.add(0)
    assert job.finish() == {0: 0, 1: 2}
    assert f"the launcher of node rank 0 says: {refusal}" in job.errors[1]


@pytest.mark.full
def test_two_machines_cannot_have_the_same_number(cluster):
    job = cluster("until('refused')", "1:3", "--join-window", "2.5")
    job.add(1, 0)
    job.wait_for("seen-0-0", "seen-0-1")
    twin = cluster("until('refused')", "1:3", "--join-window", "1")
    twin._flags = job._flags
    twin.add(1)
    assert twin.finish() == {1: 2}
    assert f"--node-rank 1 is taken by {HOST}. Give each its own." in twin.errors[1]
    (job.folder / "refused").touch()
    assert job.finish() == {0: 0, 1: 0}


@pytest.mark.slow
def test_two_jobs_cannot_meet_at_the_same_port(cluster):
    job = cluster("pass", "1:2", "--join-window", "20")
    job.add(0)
    job.machines[0].wait_for_port(launcher_port(job.port))
    other = cluster("pass", "1:2")
    other._flags = job._flags
    other.add(0)
    assert other.finish() == {0: 2}
    assert f"Node rank 0 cannot listen at 127.0.0.1, port {launcher_port(job.port)}" in other.errors[0]
    job.add(1)
    assert job.finish() == {0: 0, 1: 0}


@pytest.mark.slow
@pytest.mark.parametrize("secret", ["", "ours"])
def test_a_public_address_without_a_secret_is_warned_of(run, secret):
    flags = ("--nnodes", "1:2", "--node-rank", "0", "--master-addr", "8.8.8.8", "--name", "job")
    code, _, err = run("", *flags, env={"UNISONO_JOB_SECRET": secret})
    assert code == 2
    assert "unisono run: Node rank 0 cannot listen at 8.8.8.8, port 29499 (the one before --master-port)" in err
    assert ("Set UNISONO_JOB_SECRET, on all machines to the same value" in err) == (not secret)


NOISE = [b"GET / HTTP/1.1\r\n\r\n", b"[" * 4000 + b"\n", b"{}\n", b'{"type": "hello"}\n', b"\xff" * 9000, b"\n", b""]


@pytest.mark.slow
def test_strangers_do_not_hold_up_the_job(cluster):
    job = cluster("until('heard')", "1:2", "--join-window", "20")
    job.add(0)
    job.machines[0].wait_for_port(launcher_port(job.port))
    address = ("127.0.0.1", launcher_port(job.port))
    callers = [socket.create_connection(address, timeout=10) for _ in range(100)]
    try:
        for caller, noise in zip(callers, itertools.cycle(NOISE), strict=False):
            caller.sendall(noise)
        for caller in callers[70:]:
            caller.close()
        job.add(1)
        job.wait_for("seen-0-1")
        (job.folder / "heard").touch()
        assert job.finish() == {0: 0, 1: 0}
    finally:
        for caller in callers:
            caller.close()
