"""The scripts of examples/cluster, as far as a machine without SLURM and TPUs can try them."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from unisono_launch.engines.ray._arguments import parse as parse_for_ray
from unisono_launch.launch import PREEMPTED

FOLDER = Path(__file__).parents[2] / "examples" / "cluster"
SLURM = FOLDER / "slurm.sh"

pytestmark = pytest.mark.timeout(60)

# What sbatch sets in the environment of a batch script (its manual, "OUTPUT ENVIRONMENT VARIABLES").
OF_SBATCH = {"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_CPUS_PER_TASK"}

# Runs the command once for each of two nodes at a time, as srun does, and ends with the highest code.
SRUN = """#!/bin/bash
while [[ $1 == -* ]]; do shift; done
export SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_NODELIST=node[1-2] SLURM_STEP_TASKS_PER_NODE="1(x2)"
SLURM_PROCID=0 "$@" & first=$!
SLURM_PROCID=1 "$@" & second=$!
wait $first; a=$?
wait $second; b=$?
exit $(( a > b ? a : b ))
"""


def test_the_slurm_script_is_bash_and_knows_only_slurms_variables():
    subprocess.run(["bash", "-n", str(SLURM)], check=True, timeout=10)
    text = re.sub(r"(?m)^#.*$", "", SLURM.read_text())
    used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", text)) - {"code", "UNISONO_JOB_SECRET"}
    assert used
    assert used <= OF_SBATCH
    options = dict(re.findall(r"(?m)^#SBATCH --([a-z-]+)(?:=(\S+))?", SLURM.read_text()))
    assert (options["ntasks-per-node"], options["signal"]) == ("1", "TERM@120")


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, PREEMPTED])
def test_the_slurm_script_starts_one_launcher_for_each_machine(tmp_path, code):
    (tmp_path / "bin").mkdir()
    stand_ins = {
        "srun": SRUN,
        "unisono": f'#!/bin/bash\nexec {sys.executable} -m unisono_launch "$@"\n',
        "scontrol": '#!/bin/bash\necho "$@" > requeued\n',
    }
    for name, text in stand_ins.items():
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "train.py").write_text(
        "import json, os, sys\n"
        "with open('environ-' + os.environ['RANK'], 'w') as file: json.dump([sys.argv, dict(os.environ)], file)\n"
        f"sys.exit({code})\n"
    )
    slurm = {"SLURM_JOB_ID": "77", "SLURM_JOB_NAME": "mnist", "SLURM_CPUS_PER_TASK": "1"}
    result = subprocess.run(
        ["bash", str(SLURM), "--max-restarts", "0", "train.py", "--lr", "0.1"],
        cwd=tmp_path,
        env=os.environ | slurm | {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == code, result.stderr
    for rank in (0, 1):
        words, environ = json.loads((tmp_path / f"environ-{rank}").read_text())
        assert words == ["train.py", "--lr", "0.1"]
        assert environ["WORLD_SIZE"] == "2"
        assert environ["MASTER_ADDR"] == "node1"
        assert len(environ["UNISONO_JOB_SECRET"]) == 32
        assert environ["UNISONO_RUN_DIR"] == str(tmp_path / "runs/mnist-77")
    assert (tmp_path / "requeued").exists() == (code == PREEMPTED)
    if code == PREEMPTED:
        assert (tmp_path / "requeued").read_text() == "requeue 77\n"


# Runs the command of `gcloud … ssh` in a shell, as the VM does, and records all calls.
GCLOUD = """#!/bin/bash
printf '%s\\n' "$4" >> calls
for word in "$@"; do
    [[ $word == --command=* ]] && exec env HOME="$PWD/home" bash -c "${word#--command=}"
done
exit 0
"""


def test_the_script_for_tpu_vms_passes_on_the_words_as_they_are(tmp_path):
    activate = tmp_path / "home" / "venv" / "bin" / "activate"
    activate.parent.mkdir(parents=True)
    activate.write_text("unisono() { printf '%s\\n' \"$@\" > words; }\n")
    (tmp_path / "gcloud").write_text(GCLOUD)
    (tmp_path / "gcloud").chmod(0o755)
    subprocess.run(
        ["bash", str(FOLDER / "tpu-vm.sh"), "my-tpu", "us-central2-b", "src/my train.py", "--title", "it's $HOME", "*"],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        check=True,
        timeout=60,
    )
    assert (tmp_path / "calls").read_text().split() == ["scp", "ssh"]
    words = (tmp_path / "words").read_text().splitlines()
    assert words == [
        *("run", "--run-dir", "/mnt/runs/my-tpu", "--grace", "100"),
        *("my train.py", "--title", "it's $HOME", "*"),
    ]


def test_the_script_for_tpu_vms_says_how_it_is_used():
    result = subprocess.run(["bash", str(FOLDER / "tpu-vm.sh")], capture_output=True, text=True, timeout=10)
    assert result.returncode == 2
    assert "TPU ZONE SCRIPT" in result.stderr


def test_the_rayjob_starts_a_command_for_the_pods_that_it_asks_for(tmp_path, monkeypatch):
    text = (FOLDER / "rayjob.yaml").read_text()
    words = shlex.split(re.search(r"entrypoint: (.*)", text)[1])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    assert words[:4] == ["unisono", "run", "--on", "ray"]
    options = parse_for_ray(words[4:])
    gpus = re.findall(r"nvidia.com/gpu: (\d+)", text)
    assert [str(options.devices.count)] == gpus
    assert re.findall(r"[rR]eplicas: (\d+)", text) == [str(options.job.num_workers)] * 3
    assert options.job.run_dir.startswith(re.search(r"mountPath: (\S+)", text)[1])
