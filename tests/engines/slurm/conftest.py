"""Jobs of `unisono run --on slurm` on a real SLURM of two nodes."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines.slurm._cluster import SlurmCluster, wait_until, why_unavailable

SCRIPT = Path(__file__).parents[1] / "scripts" / "train.py"
DEADLINE = 120.0


class FollowedJob:
    """A running `unisono run --on slurm`, and the job that it follows."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, cluster: SlurmCluster) -> None:
        self.process = process
        self.folder = folder
        self.cluster = cluster
        self.id = ""

    def wait_for_submission(self) -> None:
        wait_until(lambda: "submitted job" in self.errors, "sbatch has taken the job")
        match = re.search(r"submitted job (\d+)", self.errors)
        assert match is not None
        self.id = match[1]

    def wait_for_step(self, step: int) -> None:
        """Waits until the job has trained so far."""
        file = self.folder / "step"
        what = f"step {step}"
        wait_until(lambda: file.exists() and int(file.read_text() or "0") >= step, what, DEADLINE)

    def run_at_full_speed(self) -> None:
        """Lets the job train at full speed from now on."""
        (self.folder / "hold").unlink()

    def finish(self) -> int:
        """Waits for the end of the command; its exit code."""
        return self.process.wait(timeout=DEADLINE)

    @property
    def output(self) -> str:
        """What the command has printed: the output of the job."""
        return (self.folder / "stdout").read_text()

    @property
    def errors(self) -> str:
        """What the command itself said."""
        return (self.folder / "stderr").read_text()

    @property
    def digests(self) -> set[str]:
        """Of the final weights, one for each worker that has trained to the end."""
        return set(re.findall(r"trained 64 steps, weights (\w+)", self.output))


Submit = Callable[..., FollowedJob]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    reason = why_unavailable()
    if reason is not None:
        pytest.skip(reason)
    cluster = SlurmCluster(tmp_path_factory.mktemp("slurm"))
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="session")
def undisturbed(cluster: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> FollowedJob:
    """A job that has trained without a disturbance."""
    with _submitting(cluster, tmp_path_factory.mktemp("undisturbed")) as submit:
        job = submit()
        job.run_at_full_speed()
        job.finish()
        return job


@pytest.fixture
def submit(cluster: SlurmCluster, tmp_path: Path) -> Iterator[Submit]:
    """Types `unisono run --on slurm -N 2 FLAGS train.py ARGS`, and waits until the job is submitted."""
    with _submitting(cluster, tmp_path) as submit:
        yield submit


@contextlib.contextmanager
def _submitting(cluster: SlurmCluster, work_dir: Path) -> Iterator[Submit]:
    jobs: list[FollowedJob] = []

    def submit(*flags: str, args: tuple[str, ...] = (), script: Path = SCRIPT) -> FollowedJob:
        folder = work_dir / f"run-{len(jobs)}"
        folder.mkdir()
        (folder / "hold").touch()
        words = [sys.executable, "-m", "unisono_launch", "run", "--on", "slurm", "-N", "2", "--devices", "cpu:1"]
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            process = subprocess.Popen(
                [*words, "--run-dir", str(folder), *flags, str(script), *args],
                cwd=work_dir,
                env=_environment() | cluster.environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        jobs.append(FollowedJob(process, folder, cluster))
        jobs[-1].wait_for_submission()
        return jobs[-1]

    try:
        yield submit
    finally:
        for job in jobs:
            if job.process.poll() is None:
                job.process.kill()
            job.process.wait()
            for end in (("--signal=KILL", "--full"), ()):
                cluster.call("scancel", *end, job.id, check=False)
        cluster.wait_for_idle_nodes()


def _environment() -> dict[str, str]:
    """This environment without what the tests of JAX need."""
    ours = ("UNISONO_CPU_DEVICES", "NPROC", "TF_CONFIG")
    return {name: value for name, value in os.environ.items() if name not in ours}
