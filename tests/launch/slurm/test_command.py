"""`unisono run --on slurm`: the command line, the batch script, and what is read of SLURM. tests/engines runs jobs."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.launch.conftest import Run
from tests.launch.slurm.example import example
from unisono_launch.cluster._slurm_job import SlurmError, parse_job
from unisono_launch.engines.slurm._follow import _describe, _judge

EXAMPLE = Path(__file__).parents[3] / "examples" / "cluster" / "slurm.sh"
NOW = time.mktime(time.strptime("2026-11-16T12:00:00", "%Y-%m-%dT%H:%M:%S"))


@pytest.fixture(autouse=True)
def script(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('trained')\n")


def dry_run(command: Run, *words: str) -> str:
    code, out, err = command("run", "--on", "slurm", "--dry-run", *words)
    assert (code, err) == (0, "")
    subprocess.run(["bash", "-n"], input=out, text=True, check=True, timeout=10)
    return out


def test_the_example_says_what_the_command_writes():
    assert EXAMPLE.read_text() == example(), "run: python -m tests.launch.slurm.example > examples/cluster/slurm.sh"


def test_a_dry_run_prints_the_script_and_does_nothing(command, tmp_path):
    out = dry_run(command, "-N", "2", "--name", "mnist", "train.py", "--lr", "0.1 or so")
    assert sorted(os.listdir(tmp_path)) == ["train.py"]
    directives = dict(re.findall(r"(?m)^#SBATCH --([a-z-]+)(?:=(\S+))?", out))
    assert directives == {
        "job-name": "mnist",
        "nodes": "2",
        "ntasks-per-node": "1",
        "chdir": str(tmp_path),
        "signal": "TERM@120",
        "requeue": "",
        "open-mode": "append",
        "output": f"{tmp_path}/runs/mnist/slurm-%j.out",
    }
    assert f"{sys.executable} -m unisono_launch run \\\n    --run-dir {tmp_path}/runs/mnist \\\n" in out
    assert "    --grace 100 \\\n    train.py --lr '0.1 or so'\n" in out


def test_the_advice_to_submit_again_runs_nothing_that_is_in_the_name_of_a_folder(command, tmp_path):
    folder = tmp_path / "it's $(touch mark) $HOME"
    script = dry_run(command, "--run-dir", str(folder), "train.py")
    for name, text in {"srun": "exit 75", "scontrol": "exit 1", "sbatch": 'echo "$1" > submitted'}.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}\n")
        (tmp_path / name).chmod(0o755)
    bash = {"cwd": tmp_path, "env": os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, "text": True}
    job = subprocess.run(["bash", "-c", script], capture_output=True, timeout=10, **bash)
    assert job.returncode == 75
    assert "submit it again:\n    sbatch " in job.stderr
    subprocess.run(["bash", "-c", job.stderr.splitlines()[-1]], check=True, timeout=10, **bash)
    assert (tmp_path / "submitted").read_text() == f"{folder}/job.sh\n"
    assert not (tmp_path / "mark").exists()


def test_all_options_reach_sbatch_or_the_launcher(command):
    resources = ("--gpus-per-node=8", "--cpus-per-task=16", "--time=2:00:00", "--partition=gpu", "--account=lab")
    others = ("--qos=high", "--constraint=a100&nvlink", "--mem=64G", "--sbatch=--exclusive", "--sbatch", "--nice=100")
    launcher = ("-n", "gpu", "--devices", "gpu:0,1", "--max-restarts", "3", "--grace", "300", "--sharded")
    out = dry_run(command, *resources, *others, *launcher, "--setup", "source .venv/bin/activate", "train.py")
    for option in (*resources, "--qos=high", "--constraint='a100&nvlink'", "--mem=64G", "--exclusive", "--nice=100"):
        assert f"\n#SBATCH {option}\n" in out
    for flag in ("-n gpu", "--devices gpu:0,1", "--max-restarts 3", "--sharded", "--grace 300"):
        assert f"\n    {flag} \\\n" in out
    assert "--signal=TERM@320 " in out
    assert "\nsource .venv/bin/activate || exit 2\n" in out
    assert 'srun --kill-on-bad-exit=0 --cpus-per-task="$SLURM_CPUS_PER_TASK" \\\n    unisono run \\\n' in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-N", "2:4", "train.py"), "-N 2:4 is not a number of machines. SLURM gives a job a fixed number"),
        (("-N", "2", "-n", "2:4", "train.py"), "every machine has the same number of workers. Give one, as in -n 4."),
        (("missing.py",), "There is no script 'missing.py' here"),
        ((), "No script was given. Type: unisono run --on slurm"),
        (("--time", "2:00", "train.py"), "--time 2:00 leaves no time to train"),
        (("--sbatch", "exclusive", "train.py"), "--sbatch 'exclusive' is not an option of sbatch. Write one, as in"),
        (("--cpus-per-task", "0", "train.py"), "--cpus-per-task 0 is not a positive whole number"),
        (("--follow", "12", "train.py"), "--follow shows a job that was submitted before. Type only:"),
        (("--node-rank", "0", "train.py"), "unrecognized arguments: --node-rank. Type: unisono run --on slurm"),
        (("--name", "a b", "train.py"), "--name 'a b' is not a plain name"),
    ],
)
def test_what_cannot_work_is_refused_with_what_to_type(command, words, message):
    code, out, err = command("run", "--on", "slurm", *words)
    assert (code, out) == (2, "")
    assert err.startswith("unisono run: ")
    assert message in err


def test_without_slurm_the_command_says_where_to_type_it(command, tmp_path):
    (tmp_path / "bin").mkdir()
    code, _, err = command("run", "--on", "slurm", "train.py", env={"PATH": str(tmp_path / "bin")})
    assert code == 2
    assert "sbatch is not on the PATH. Type the command where you would submit a job" in err


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ("JobState=RUNNING EndTime=2026-11-16T12:02:00 PreemptTime=None", 100),  # the time limit: 20 s for the requeue
        ("JobState=RUNNING EndTime=Unknown PreemptTime=None", None),  # scancel --signal=TERM: SLURM kills nothing
        ("JobState=RUNNING EndTime=2026-11-16T12:00:40 PreemptTime=2026-11-16T12:00:00", 40),  # GraceTime
        ("JobState=PREEMPTED EndTime=2026-11-16T12:00:00", 25),  # KillWait
        ("JobState=CANCELLED EndTime=2026-11-16T12:00:00", 25),
        ("JobState=COMPLETING EndTime=Unknown", 25),
    ],
)
def test_the_time_after_a_signal_depends_on_why_slurm_sent_it(fields, seconds):
    job = parse_job(f"JobId=7 JobName=mnist {fields} ExitCode=0:0\n")
    assert job.seconds_until_kill(30.0, NOW) == seconds


@pytest.mark.parametrize("more", [" Power= TresPerNode=gres:gpu:8\n", "\n", ""])
def test_a_file_name_may_have_blanks(more):
    job = parse_job(f"JobId=7 JobState=RUNNING Partition=a StdErr=/a b/x StdOut=/my  runs/slurm 7.out{more}")
    assert (job.output, job.partition, job.state) == ("/my  runs/slurm 7.out", "a", "RUNNING")


def test_what_is_no_job_is_not_read_as_one():
    with pytest.raises(SlurmError, match="shows no job"):
        parse_job("slurm_load_jobs error: Unable to contact slurm controller\n")


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ("JobState=PENDING Reason=Priority Restarts=0", "job 7 waits in the queue"),
        ("JobState=PENDING Reason=PartitionConfig Restarts=0", "so it cannot start"),
        (
            "JobState=PENDING Reason=BeginTime Restarts=1",
            "(restart 1). SLURM waits about two minutes; to start it",
        ),
        ("JobState=PENDING Reason=QOSMaxCpuPerUserLimit Restarts=0", "queue: QOSMaxCpuPerUserLimit"),
        ("JobState=RUNNING Reason=None Restarts=0", "job 7 runs on n[1-2]"),
    ],
)
def test_a_state_is_described_in_words(fields, text):
    assert text in _describe("7", parse_job(f"JobId=7 {fields} ExitCode=0:0 NodeList=n[1-2]"))


def test_a_job_that_sigterm_stopped_before_it_could_save_says_so():
    job = parse_job("JobId=7 JobState=FAILED Reason=NonZeroExitCode Restarts=0 ExitCode=143:0 NodeList=n[1-2]")
    assert _judge(job) == (143, "was stopped by SIGTERM before its workers had saved, and is not requeued")
