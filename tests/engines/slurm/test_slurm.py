"""Jobs on SLURM that are disturbed, each by something else; all end with the weights of one that is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.conftest import RecordScenario
from tests.engines.slurm._cluster import NODES, SlurmCluster, wait_until
from tests.engines.slurm.conftest import FollowedJob, Submit
from unisono_launch.launch import ExitCode

pytestmark = [pytest.mark.engines, pytest.mark.timeout(400)]

PACE = ("--pace", "0.3")


def expect_resumed(job: FollowedJob, undisturbed: FollowedJob) -> None:
    """Starts a requeued job now, lets it train to its end, and compares its weights."""
    job.cluster.start_requeued(job.id)
    job.run_at_full_speed()
    assert job.finish() == ExitCode.DONE, job.errors + job.output
    assert job.digests == undisturbed.digests
    assert "(restart 1)" in job.errors


def test_a_job_trains_on_two_nodes(undisturbed: FollowedJob, record_scenario: RecordScenario) -> None:
    assert undisturbed.process.returncode == ExitCode.DONE, undisturbed.errors + undisturbed.output
    assert len(undisturbed.digests) == 1
    assert undisturbed.output.count("trained 64 steps") == 2
    assert "is done. Exit code 0." in undisturbed.errors
    record_scenario(engine="SLURM", scenario="`unisono run --on slurm -N 2`", result="trained, output followed, code 0")


def test_a_signal_saves_and_requeues(submit: Submit, undisturbed: FollowedJob, record_scenario: RecordScenario) -> None:
    job = submit(args=PACE)
    job.wait_for_step(6)
    job.cluster.call("scancel", "--signal=TERM", job.id)
    expect_resumed(job, undisturbed)
    assert "Workers have 100 s to save and end" in job.output
    record_scenario(engine="SLURM", scenario="`scancel --signal=TERM`", result="saved, requeued, bit-equal")


def test_the_time_limit_saves_and_requeues(
    submit: Submit, undisturbed: FollowedJob, record_scenario: RecordScenario
) -> None:
    job = submit("--time", "30:00", "--grace", "30", args=("--pace", "1"))
    job.wait_for_step(6)
    # SLURM looks every 30 s which jobs must get their notice.
    job.cluster.call("scontrol", "update", f"jobid={job.id}", "TimeLimit=2")
    wait_until(lambda: "SIGTERM. Workers have" in job.output, "SLURM gave notice", 100)
    expect_resumed(job, undisturbed)
    record_scenario(engine="SLURM", scenario="time limit", result="saved, requeued, bit-equal")


@pytest.mark.parametrize(
    ("partition", "seconds", "scenario"),
    [
        ("low", "25", "preempted by a higher partition, without GraceTime"),
        ("notice", "2", "preempted by a higher partition, with GraceTime"),
    ],
)
def test_a_preemption_saves_and_requeues(
    submit: Submit,
    undisturbed: FollowedJob,
    record_scenario: RecordScenario,
    tmp_path: Path,
    partition: str,
    seconds: str,
    scenario: str,
) -> None:
    job = submit("--partition", partition, args=PACE)
    job.wait_for_step(6)
    preempt(job, tmp_path)
    expect_resumed(job, undisturbed)
    assert f"Workers have {seconds}" in job.output  # KillWait, or GraceTime
    record_scenario(engine="SLURM", scenario=scenario, result="saved, requeued, bit-equal")


def test_a_job_that_is_preempted_before_it_can_save_is_requeued(
    submit: Submit, tmp_path: Path, record_scenario: RecordScenario
) -> None:
    script = tmp_path / "wait.py"
    script.write_text("import time\nprint('waiting')\ntime.sleep(100)\n")
    job = submit("--partition", "notice", script=script)
    wait_until(lambda: job.output.count("waiting") == 2, "both workers run")
    preempt(job, tmp_path)
    wait_until(lambda: "waits in the queue (restart 1)" in job.errors, "the job is requeued")
    # By the batch script, in the GraceTime: both machines ended as they were asked to.
    assert job.output.count("Exited with exit code 143") == 2
    assert "DUE TO PREEMPTION" not in job.output
    record_scenario(engine="SLURM", scenario="preempted before anything could be saved", result="requeued")


def test_a_lost_node_requeues(submit: Submit, undisturbed: FollowedJob, record_scenario: RecordScenario) -> None:
    job = submit(args=PACE)
    job.wait_for_step(6)
    node = f"nodename={NODES[1]}"
    job.cluster.call("scontrol", "update", node, "state=down", "reason=test")
    try:
        wait_until(lambda: job.cluster.field(job.id, "Restarts") == "1", "the job is requeued")
    finally:
        job.cluster.call("scontrol", "update", node, "state=resume", check=False)  # its slurmd may have done so
    expect_resumed(job, undisturbed)
    record_scenario(engine="SLURM", scenario="node set down", result="requeued, bit-equal")


def test_a_killed_worker_is_restarted_in_place(
    submit: Submit, undisturbed: FollowedJob, record_scenario: RecordScenario
) -> None:
    job = submit("--max-restarts", "1", args=("--kill-at", "10"))
    job.run_at_full_speed()
    assert job.finish() == ExitCode.DONE, job.errors + job.output
    assert "was killed by SIGKILL at step 10" in job.output
    assert job.digests == undisturbed.digests
    assert "restart" not in job.errors
    record_scenario(
        engine="SLURM",
        scenario="worker killed with SIGKILL, `--max-restarts 1`",
        result="restarted in place, bit-equal",
    )


def test_an_error_of_the_script_ends_the_job(submit: Submit, record_scenario: RecordScenario) -> None:
    job = submit(args=("--raise-at", "10"))
    job.run_at_full_speed()
    assert job.finish() == ExitCode.FAILED, job.errors
    assert "ValueError: there is something wrong with step 10" in job.output
    assert job.cluster.field(job.id, "Restarts") == "0"
    record_scenario(engine="SLURM", scenario="error in the script", result="cause shown, code 1, not requeued")


def test_a_cancelled_job_leaves_nothing_running(
    submit: Submit, undisturbed: FollowedJob, record_scenario: RecordScenario
) -> None:
    job = submit(args=PACE)
    job.wait_for_step(6)
    job.cluster.call("scancel", job.id)
    assert job.finish() == ExitCode.TERMINATED, job.errors + job.output
    assert "was cancelled. Exit code 143." in job.errors
    job.cluster.wait_for_idle_nodes()
    assert not find_processes(str(job.folder))
    record_scenario(engine="SLURM", scenario="`scancel`", result="saved, code 143, nothing left running")


def test_a_job_that_may_not_be_requeued_says_how_to_continue(
    submit: Submit, cluster: SlurmCluster, undisturbed: FollowedJob, record_scenario: RecordScenario
) -> None:
    job = submit("--sbatch", "--no-requeue", args=PACE)
    job.wait_for_step(6)
    cluster.call("scancel", "--signal=TERM", job.id)
    assert job.finish() == ExitCode.PREEMPTED, job.errors + job.output
    assert f"submit it again:\n    sbatch {job.folder}/job.sh" in job.output
    job.run_at_full_speed()
    cluster.wait_for_idle_nodes()
    (job.folder / "step").unlink()
    again = cluster.call("sbatch", "--parsable", f"{job.folder}/job.sh").strip()
    wait_until(lambda: cluster.field(again, "JobState") in ("COMPLETED", "FAILED"), "the second job has ended", 120)
    assert f"weights {undisturbed.digests.copy().pop()}" in (job.folder / f"slurm-{again}.out").read_text()
    record_scenario(engine="SLURM", scenario="requeue not allowed", result="saved, code 75, submitted again, bit-equal")


def test_ctrl_c_leaves_the_job_running(
    submit: Submit, cluster: SlurmCluster, undisturbed: FollowedJob, record_scenario: RecordScenario
) -> None:
    job = submit(args=PACE)
    job.wait_for_step(2)
    job.process.send_signal(signal.SIGINT)
    assert job.finish() == ExitCode.INTERRUPTED
    assert f"Follow it: unisono run --on slurm --follow {job.id}    End it: scancel {job.id}" in job.errors
    assert cluster.field(job.id, "JobState") == "RUNNING"
    job.run_at_full_speed()
    words = [sys.executable, "-m", "unisono_launch", "run", "--on", "slurm", "--follow", job.id]
    again = subprocess.run(
        words, env=os.environ | cluster.environ, capture_output=True, text=True, timeout=120, check=False
    )
    assert again.returncode == ExitCode.DONE, again.stderr
    assert f"weights {undisturbed.digests.copy().pop()}" in again.stdout
    record_scenario(
        engine="SLURM", scenario="Ctrl-C while following", result="the job continues, followed again, code 0"
    )


def test_what_sbatch_refuses_is_shown(cluster: SlurmCluster, tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    words = [sys.executable, "-m", "unisono_launch", "run", "--on", "slurm", "--partition", "none", "train.py"]
    result = subprocess.run(
        words, cwd=tmp_path, env=os.environ | cluster.environ, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == ExitCode.LAUNCHER
    assert "sbatch refused the job: sbatch: error: invalid partition specified: none" in result.stderr


def preempt(job: FollowedJob, folder: Path) -> None:
    """Submits a job that needs both nodes and comes first."""
    job.cluster.call(
        *("sbatch", "--partition=high", "--nodes=2", "--exclusive", f"--output={folder}/other", "--wrap", "srun true")
    )


def find_processes(text: str) -> list[str]:
    """The command lines of processes that have this text in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (path / "environ").read_bytes():
                found.append((path / "cmdline").read_text())
        except OSError:
            continue
    return found
