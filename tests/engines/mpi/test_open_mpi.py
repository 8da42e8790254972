"""Workers that a real `mpirun` starts."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines.conftest import RecordScenario

pytestmark = [
    pytest.mark.engines,
    pytest.mark.timeout(300),
    pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun: apt-get install openmpi-bin"),
]

SCRIPT = Path(__file__).parents[1] / "scripts" / "train.py"
EXAMPLE = Path(__file__).parents[3] / "examples" / "cluster" / "openmpi.sh"
DEADLINE = 120.0

# mpirun refuses to start as root, and on a machine with fewer cores than processes.
ENVIRON = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "JAX_PLATFORMS": "cpu",
}


class Mpirun:
    """A running mpirun in a folder of its own."""

    def __init__(self, folder: Path, *words: str, path: str = "") -> None:
        self.folder = folder
        ours = ("UNISONO_CPU_DEVICES", "NPROC", "TF_CONFIG")
        environ = {name: value for name, value in os.environ.items() if name not in ours} | ENVIRON
        environ["PATH"] = path + environ["PATH"]
        with (folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                words, cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )

    @property
    def output(self) -> str:
        """All that was printed in the folder."""
        return (self.folder / "output").read_text(errors="replace")

    @property
    def digests(self) -> list[str]:
        """Of the final weights, one for each process that has trained to the end."""
        return re.findall(r"trained 64 steps, weights (\w+)", self.output)

    def wait_for_step(self, step: int) -> None:
        """Waits until the job has trained so far."""
        end = time.monotonic() + DEADLINE
        file = self.folder / "step"
        while not file.exists() or int(file.read_text() or "0") < step:
            assert time.monotonic() < end, self.output
            assert self.process.poll() is None, self.output
            time.sleep(0.1)

    def finish(self) -> int:
        """Waits for its end; its exit code."""
        return self.process.wait(timeout=DEADLINE)

    def kill(self) -> None:
        """Ends it, and with it what it has started."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mpirun]:
    """`mpirun -n 2 python train.py`, to its end."""
    folder = tmp_path_factory.mktemp("undisturbed")
    job = Mpirun(folder, "mpirun", "-n", "2", sys.executable, str(SCRIPT), "--folder", str(folder))
    try:
        job.finish()
        yield job
    finally:
        job.kill()


def test_sigterm_to_mpirun_saves_and_the_same_command_resumes(
    undisturbed: Mpirun, tmp_path: Path, record_scenario: RecordScenario
) -> None:
    assert undisturbed.process.returncode == 0, undisturbed.output
    assert len(undisturbed.digests) == 2
    (tmp_path / "hold").touch()
    words = ("mpirun", "-n", "2", "--mca", "odls_base_sigkill_timeout", "5")
    words = (*words, sys.executable, str(SCRIPT), "--folder", str(tmp_path), "--pace", "0.5")
    job = Mpirun(tmp_path, *words)
    try:
        job.wait_for_step(6)
        job.process.send_signal(signal.SIGTERM)
        assert job.finish() != 0
    finally:
        job.kill()
    assert "everything is saved" in job.output
    (tmp_path / "hold").unlink()
    job = Mpirun(tmp_path, *words)
    try:
        assert job.finish() == 0, job.output
    finally:
        job.kill()
    assert job.digests == undisturbed.digests
    record_scenario(
        engine="Open MPI",
        scenario="`mpirun -n 2 python train.py`, SIGTERM to mpirun, the same command again",
        result="saved, bit-equal",
    )


def test_the_example_starts_one_launcher_for_each_machine(tmp_path: Path, record_scenario: RecordScenario) -> None:
    (tmp_path / "hosts.txt").write_text("localhost\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "unisono").symlink_to(Path(sys.executable).parent / "unisono")
    job = Mpirun(tmp_path, str(EXAMPLE), "--devices", "cpu:2", str(SCRIPT), path=f"{tmp_path}/bin:")
    try:
        assert job.finish() == 0, job.output
    finally:
        job.kill()
    assert len(job.digests) == 1
    assert (tmp_path / "runs" / "mnist" / "checkpoints").is_dir()
    record_scenario(engine="Open MPI", scenario="examples/cluster/openmpi.sh on one machine", result="trained, code 0")
