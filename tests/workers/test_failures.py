"""One worker of a job fails: its peers end in time, and none is left behind."""

import signal
import socket
import time
from pathlib import Path

import pytest

from tests.workers._job import finish, job, listening_ports

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PHASES = ["start", "step", "evaluate", "exit"]
FAILURES = ["SIGKILL", "SIGTERM", "SIGSTOP", "exception"]
# What is run by default; `make test-all` runs every combination.
_DEFAULT = {("step", 0, "SIGKILL"), ("step", 1, "SIGSTOP")}
_LIMIT_SECONDS = {"SIGSTOP": 30.0}  # noticed after ten seconds without a heartbeat
_LOST = 69


@pytest.mark.parametrize(
    ("phase", "victim", "failure"),
    [
        pytest.param(
            phase,
            victim,
            failure,
            id=f"{failure}-of-worker-{victim}-in-{phase}",
            marks=[] if (phase, victim, failure) in _DEFAULT else pytest.mark.full,
        )
        for phase in PHASES
        for victim in (0, 1)
        for failure in FAILURES
    ],
)
def test_the_peers_of_a_worker_that_fails_end_in_time(tmp_path: Path, phase: str, victim: int, failure: str) -> None:
    with job(tmp_path, "failing.py", [phase, str(victim), failure], workers=2) as workers:
        failing, peer = workers[victim], workers[1 - victim]
        failing.wait_for(f"reached {phase}")
        if phase in ("start", "exit"):
            time.sleep(1.0)  # let the peer come to where it waits for the other
        began = time.monotonic()
        if failure != "exception":
            failing.process.send_signal(getattr(signal, failure))
        (code,) = finish([peer], 60)
        took = time.monotonic() - began
        assert took < _LIMIT_SECONDS.get(failure, 10.0), f"{took:.1f} s\n{peer.output()}"
        assert code in (_LOST, 1, -signal.SIGABRT), peer.output()
        if failure == "SIGSTOP":
            failing.process.kill()
        finish([failing], 30)
        if failure == "exception":
            assert "ZeroDivisionError: on purpose" in failing.output()
            assert failing.process.returncode == 1


@pytest.mark.parametrize(
    ("where", "code", "expected"),
    [
        pytest.param("sys.exit in fit", "no data left", 1, marks=pytest.mark.full),
        pytest.param("SystemExit in fit", "3", 3, marks=pytest.mark.full),
        ("between", "3", 3),
    ],
)
def test_a_worker_that_calls_sys_exit_does_not_wait_for_its_peers(
    tmp_path: Path, where: str, code: str, expected: int
) -> None:
    with job(tmp_path, "exiting.py", [where, code], workers=2) as workers:
        assert finish(workers, 90) == [_LOST, expected], "\n".join(worker.output() for worker in workers)
        assert "worker 0 at" in workers[0].output()
        assert "exits because" in workers[0].output()
        assert code == "3" or code in workers[1].output()


@pytest.mark.full
def test_a_worker_that_fails_ends_also_where_its_disk_is_full(tmp_path: Path) -> None:
    full = {"UNISONO_STATUS": "/dev/full"}
    with job(tmp_path, "failing.py", ["step", "1", "exception"], workers=2, environment=full) as workers:
        workers[1].wait_for("reached step")
        finish(workers, 30)
        assert workers[1].process.returncode == 1, workers[1].output()
        assert "ZeroDivisionError: on purpose" in workers[1].output()


@pytest.mark.full
def test_a_worker_that_ends_early_without_an_error_is_no_failure(tmp_path: Path) -> None:
    with job(tmp_path, "early.py", workers=2) as workers:
        assert finish(workers, 120) == [0, 0], "\n".join(worker.output() for worker in workers)


def test_missing_workers_are_named_by_all_that_connected(tmp_path: Path) -> None:
    with job(tmp_path, "joining.py", ["8"], workers=3, absent=[1]) as workers:
        began = time.monotonic()
        assert finish(workers, 90) == [1, 1]
        assert time.monotonic() - began < 60
        for worker in workers:
            assert "1 of 3 workers did not connect within 8 seconds: worker 1 at 127.0.0.1" in worker.output()


@pytest.mark.full
def test_a_worker_under_slurm_sees_all_gpus_that_it_was_given(tmp_path: Path) -> None:
    """JAX's own detection of SLURM would take the one of the local rank."""
    slurm = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "1", "SLURM_PROCID": "0", "SLURM_LOCALID": "0"}
    slurm |= {"SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_NUM_TASKS": "1"}
    with job(tmp_path, "joining.py", ["60"], workers=2, environment=slurm) as workers:
        assert finish(workers, 90) == [0, 0]
        assert all("visible GPUs: all" in worker.output() for worker in workers)


@pytest.mark.full
def test_a_chief_that_does_not_come_is_named(tmp_path: Path) -> None:
    with job(tmp_path, "joining.py", ["6"], workers=2, absent=[0]) as workers:
        assert finish(workers, 90) == [1]
        assert "could not reach 127.0.0.1" in workers[0].output()
        assert "worker 0 at 127.0.0.1" in workers[0].output()


@pytest.mark.full
def test_the_port_is_free_again_when_a_job_has_been_killed(tmp_path: Path) -> None:
    with job(tmp_path, "failing.py", ["step", "0", "SIGKILL"], workers=2) as workers:
        workers[0].wait_for("reached step")
        chief = next(line for line in listening_ports(workers[0].process.pid))
        for worker in workers:
            worker.process.kill()
        finish(workers, 30)
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_server(("127.0.0.1", chief)).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
