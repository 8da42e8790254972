"""`unisono run --on ray`: scripts as jobs on a cluster of two nodes, disturbed in every way.

The weights at the end are those of the same script under `unisono run` on one machine, to the last bit.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engines.conftest import RecordScenario
from tests.engines.ray.conftest import SCRIPTS, Driver, RayCluster, StartDriver

pytestmark = [pytest.mark.engines, pytest.mark.timeout(400)]

_TRAIN = SCRIPTS / "train.py"
# Nodes have three CPUs: one of them has no room for two workers.
_DEVICES = ("--devices", "cpu:2")
_QUICK = {
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
    "RAY_TRAIN_PREEMPTION_POLL_INTERVAL_S": "1",
    "RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "20",  # after a loss Ray tries the old number of workers for so long
}


class StartJob:
    """Starts `unisono run --on ray` with the small training."""

    def __init__(self, start: StartDriver, folder: Path) -> None:
        self._start = start
        self.run = folder / "run"

    def __call__(self, *options: str, script: tuple[str, ...] = ()) -> Driver:
        command = [sys.executable, "-m", "unisono_launch", "run", "--on", "ray", "--run-dir", str(self.run), *_DEVICES]
        return self._start([*command, *options, str(_TRAIN), *script], environment=_QUICK)

    @property
    def digest(self) -> str:
        return (self.run / "digest").read_text()


@pytest.fixture
def start_job(start_driver: StartDriver, tmp_path: Path) -> StartJob:
    return StartJob(start_driver, tmp_path)


def train_here(folder: Path, *options: str, script: tuple[str, ...] = ()) -> str:
    """The digest of the weights of the same training on this machine, without Ray."""
    command = [sys.executable, "-m", "unisono_launch", "run", "--run-dir", str(folder), *_DEVICES, *options]
    subprocess.run([*command, str(_TRAIN), *script], check=True, capture_output=True, timeout=200)
    return (folder / "digest").read_text()


@pytest.fixture(scope="module")
def digest(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Of two workers that nothing disturbs."""
    return train_here(tmp_path_factory.mktemp("undisturbed"), "-n", "2")


def process_of(driver: Driver, rank: int) -> int:
    """The number of the process that runs the script as worker `rank`."""
    return int(re.findall(rf"\[worker {rank}\] \d replicas, process (\d+)", driver.output())[-1])


def parent_of(process: int) -> int:
    """The Ray worker that supervises it."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def assert_nothing_is_left(driver: Driver) -> None:
    """No process of the script lives on; Ray needs a moment to end them."""
    deadline = time.monotonic() + 60
    for process in map(int, re.findall(r"replicas, process (\d+)", driver.output())):
        while is_alive(process):
            assert time.monotonic() < deadline, f"process {process} is still running:\n{driver.output()}"
            time.sleep(0.2)


def is_alive(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_a_job_trains_as_on_one_machine(start_job: StartJob, digest: str, record_scenario: RecordScenario) -> None:
    driver = start_job("-n", "2")
    assert driver.finish() == 0, driver.output()
    assert start_job.digest == digest
    lines = driver.output().splitlines()
    assert lines.count("[worker 0] step 8") == 1  # once, and nothing of Ray's
    assert [line for line in lines if not line.startswith(("unisono: ", "[worker "))] == []
    assert "step 8" in (start_job.run / "logs/attempt-0/worker-0.log").read_text()
    record_scenario(engine="Ray", scenario="a job of two workers", result="bit-equal to `unisono run` on one machine")


def test_a_killed_worker_is_restarted(start_job: StartJob, digest: str, record_scenario: RecordScenario) -> None:
    driver = start_job("-n", "2", "--max-restarts", "2", script=("--seconds", "0.2", "--slow-attempts", "2"))
    driver.wait_for("step 16")
    os.kill(process_of(driver, 1), signal.SIGKILL)
    driver.wait_for("step 32")
    os.kill(parent_of(process_of(driver, 0)), signal.SIGKILL)
    assert driver.finish() == 0, driver.output()
    assert re.search(
        r"unisono: worker 1 on \S+ was killed by SIGKILL at step \d+ \(fit\)\. "
        r"Ray restarts all workers: attempt 1, 1 restart left\.",
        driver.output(),
    )
    assert re.search(
        r"unisono: worker 0 on \S+ was lost with its Ray worker at step \d+ \(fit\)\. "
        r"Ray restarts all workers: attempt 2, 0 restarts left\.",
        driver.output(),
    )
    assert start_job.digest == digest
    assert_nothing_is_left(driver)
    record_scenario(
        engine="Ray",
        scenario="SIGKILL to a worker, and then to the Ray worker above another",
        result="restarted twice, bit-equal",
    )


def test_a_lost_node_is_replaced(
    ray_cluster: RayCluster, start_job: StartJob, digest: str, record_scenario: RecordScenario
) -> None:
    driver = start_job("-n", "2", "--max-restarts", "1", script=("--seconds", "0.1"))
    driver.wait_for("step 16")
    ray_cluster.kill_node(ray_cluster.nodes[0])
    ray_cluster.add_node()
    assert driver.finish() == 0, driver.output()
    lost = r"unisono: worker [01] on \S+ was lost with its (?:node|Ray worker) at step \d+ \(fit\)\."
    assert re.search(lost, driver.output())
    assert "raylet" not in driver.output()
    assert start_job.digest == digest
    record_scenario(
        engine="Ray", scenario="a node dies (its raylet is killed), another one is added", result="restarted, bit-equal"
    )


def test_a_drained_node_costs_no_restart(
    ray_cluster: RayCluster, start_job: StartJob, digest: str, record_scenario: RecordScenario
) -> None:
    driver = start_job("-n", "2", "--max-restarts", "0", script=("--seconds", "0.2"))
    driver.wait_for("step 16")
    drained = ray_cluster.nodes.pop(0)
    ray_cluster.add_node()
    ray_cluster.drain_node(drained, deadline_seconds=60)
    assert driver.finish() == 0, driver.output()
    assert re.search(r"unisono: Ray takes away the node of worker [01] on ", driver.output())
    assert "Ray restarts all workers: attempt 1." in driver.output()
    assert start_job.digest == digest
    record_scenario(
        engine="Ray", scenario="a node is drained (`ray drain-node`), no restarts allowed", result="saved, bit-equal"
    )


def test_an_elastic_job_continues_with_fewer_workers(
    ray_cluster: RayCluster, start_job: StartJob, tmp_path: Path, record_scenario: RecordScenario
) -> None:
    exact = train_here(tmp_path / "undisturbed", "-n", "1", script=("--exact",))
    driver = start_job("-n", "1:2", "--max-restarts", "1", script=("--exact", "--seconds", "0.1"))
    driver.wait_for("step 16")
    ray_cluster.kill_node(ray_cluster.nodes[0])
    assert driver.finish() == 0, driver.output()
    ray_cluster.add_node()
    assert "4 replicas" in driver.output()
    assert "2 replicas" in driver.output()
    assert start_job.digest == exact
    record_scenario(
        engine="Ray", scenario="`-n 1:2`, and one of two nodes dies", result="continues with one worker, bit-equal"
    )


def test_an_elastic_job_grows(
    ray_cluster: RayCluster, start_job: StartJob, tmp_path: Path, record_scenario: RecordScenario
) -> None:
    length = ("--exact", "--epochs", "16")
    exact = train_here(tmp_path / "undisturbed", "-n", "1", script=length)
    ray_cluster.kill_node(ray_cluster.nodes[0])
    driver = start_job("-n", "1:2", "--max-restarts", "0", script=(*length, "--seconds", "0.4"))
    driver.wait_for("step 8")
    ray_cluster.add_node()
    driver.wait_for("4 replicas")  # Ray looks once a minute
    assert driver.finish() == 0, driver.output()
    assert "2 replicas" in driver.output().partition("unisono: Ray changes the number of workers.")[0]
    assert start_job.digest == exact
    record_scenario(
        engine="Ray", scenario="`-n 1:2`, and a second node is added", result="saved, continues with two, bit-equal"
    )


def test_sigterm_saves_and_the_next_start_resumes(
    start_job: StartJob, digest: str, record_scenario: RecordScenario
) -> None:
    driver = start_job("-n", "2", "--max-restarts", "3", script=("--seconds", "0.1"))
    driver.wait_for("step 16")
    driver.process.send_signal(signal.SIGTERM)
    assert driver.finish() == 75, driver.output()
    assert "unisono: ended by SIGTERM." in driver.output()
    assert_nothing_is_left(driver)
    again = start_job("-n", "2")
    assert again.finish() == 0, again.output()
    assert "step 8\n" not in again.output()
    assert start_job.digest == digest
    record_scenario(
        engine="Ray", scenario="SIGTERM to the driver", result="saved, exit code 75; started again, bit-equal"
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)])
def test_nothing_is_left_when_the_driver_ends(
    number: signal.Signals, code: int, start_job: StartJob, record_scenario: RecordScenario
) -> None:
    driver = start_job("-n", "2", script=("--seconds", "0.5"))
    driver.wait_for("step 8")
    driver.process.send_signal(number)
    assert driver.finish() == code, driver.output()
    assert_nothing_is_left(driver)
    record_scenario(
        engine="Ray",
        scenario=f"{number.name} to the driver",
        result="nothing is left running" + (", exit code 130" if code > 0 else ""),
    )


def test_the_cause_of_a_failure_comes_first(start_job: StartJob, record_scenario: RecordScenario) -> None:
    driver = start_job("-n", "2", script=("--fail-at", "12"))
    assert driver.finish() == 1, driver.output()
    report = driver.output().partition("\nunisono: worker 1 on ")[2]
    assert report.startswith(re.match(r"\S+ failed with exit code 1 at step 12\.\n", report)[0]), driver.output()
    assert report.rstrip().endswith("ValueError: the loss is not a number, on purpose")
    assert "ray.exceptions" not in driver.output()
    record_scenario(engine="Ray", scenario="an exception in the script", result="its traceback, exit code 1")


def test_gpus_are_those_that_ray_has_chosen(
    ray_cluster: RayCluster, start_driver: StartDriver, tmp_path: Path, record_scenario: RecordScenario
) -> None:
    node = ray_cluster.add_node(num_gpus=4)
    command = [sys.executable, "-m", "unisono_launch", "run", "--on", "ray", "--run-dir", str(tmp_path / "run")]
    environment = {**_QUICK, "JAX_PLATFORMS": "cpu"}  # left over in the shell, against --devices
    driver = start_driver(
        [*command, "-n", "2", "--devices", "gpu:2", str(SCRIPTS / "show_devices.py")], environment=environment
    )
    assert driver.finish() == 0, driver.output()
    ray_cluster.kill_node(node)
    shown = sorted(re.findall(r"GPUs (\S+) platforms ('\w*')", driver.output()))
    assert shown == [("0,1", "''"), ("2,3", "''")], driver.output()
    record_scenario(engine="Ray", scenario="two workers with two GPUs each on one node", result="each has its own")


def test_an_address_without_a_cluster_is_one_sentence(start_driver: StartDriver, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "unisono_launch", "run", "--on", "ray", "--address", "127.0.0.1:1"]
    driver = start_driver([*command, "--run-dir", str(tmp_path / "run"), str(_TRAIN)])
    assert driver.finish() == 2
    assert driver.output() == (
        "unisono run: There is no Ray cluster at 127.0.0.1:1: [Errno 111] Connection refused. "
        "Start one with `ray start --head`, or name another: --address HOST:6379\n"
    )
