"""The templates of examples/cluster, as far as a machine without SLURM and Kubernetes can try them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from unisono_launch.launch import PREEMPTED
from unisono_launch.launch._arguments import parse
from unisono_launch.launch._machines import find_machines

FOLDER = Path(__file__).parents[2] / "examples" / "cluster"
SLURM = FOLDER / "slurm.sh"
JOBSET = FOLDER / "jobset.yaml"

pytestmark = pytest.mark.timeout(60)

# What sbatch sets in the environment of a batch script (its manual, "OUTPUT ENVIRONMENT VARIABLES").
OF_SBATCH = {"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST", "SLURM_JOB_NUM_NODES", "SLURM_SUBMIT_DIR"}

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
    used = set(re.findall(r"\$\{?([A-Za-z_]\w*)", text)) - {"code"}
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
    slurm = {"SLURM_JOB_ID": "77", "SLURM_JOB_NAME": "mnist"}
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
        assert environ["UNISONO_RUN_DIR"] == str(tmp_path / "runs/mnist-77")
    assert (tmp_path / "requeued").exists() == (code == PREEMPTED)
    if code == PREEMPTED:
        assert (tmp_path / "requeued").read_text() == "requeue 77\n"


def test_the_jobset_has_what_the_api_and_the_launcher_need(tmp_path, monkeypatch):
    jobset = read_yaml(JOBSET.read_text())
    assert (jobset["apiVersion"], jobset["kind"]) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
    name = jobset["metadata"]["name"]
    (replicated,) = jobset["spec"]["replicatedJobs"]
    assert replicated["replicas"] == 1
    job = replicated["template"]["spec"]
    assert (job["completionMode"], job["backoffLimit"]) == ("Indexed", 0)
    assert job["completions"] == job["parallelism"]
    (rule,) = job["podFailurePolicy"]["rules"]
    pod = job["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["restartPolicy"] == "Never"  # the API refuses podFailurePolicy otherwise
    assert rule["onExitCodes"] == {"containerName": container["name"], "operator": "In", "values": [PREEMPTED]}
    assert jobset["spec"]["failurePolicy"]["rules"][0]["onJobFailureReasons"] == ["PodFailurePolicy"]
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes

    # What the pod with number 1 sees.
    environ = {variable["name"]: variable["value"] for variable in container["env"]}
    assert all(isinstance(value, str) for value in environ.values()), "the API wants text"
    assert environ["UNISONO_NUM_NODES"] == str(job["completions"])
    pod_name = f"{name}-{replicated['name']}-0-1"
    environ |= {"JOB_COMPLETION_INDEX": "1", "HOSTNAME": pod_name}
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    assert container["command"][:2] == ["unisono", "run"]
    options = parse(container["command"][2:])
    machines = find_machines(options, environ)
    assert machines.hosts == tuple(f"{name}-{replicated['name']}-0-{i}.{name}" for i in range(2))
    assert machines.master_port == container["ports"][0]["containerPort"]
    assert options.grace < pod["terminationGracePeriodSeconds"]


@pytest.mark.parametrize(
    "text", ["a: 1\na: 2", "a:\n  - 1\n   - 2", "a: {b", "\ta: 1", "a: b: c", "a", "a: yes", "a: 'b"]
)
def test_what_is_not_plainly_yaml_is_refused(text):
    with pytest.raises(ValueError, match="line"):
        read_yaml(text)


def read_yaml(text: str) -> dict[str, Any]:
    """Reads the part of YAML that manifests are written in, and refuses all else.

    Blocks of mappings and sequences, numbers, true, "quoted" and plain words. No parser is among our dependencies.
    """
    lines = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        if line:
            lines.append((number, len(line) - len(line.lstrip(" ")), line.lstrip(" ")))
    value, rest = _block(lines, 0)
    if rest or not isinstance(value, dict):
        raise ValueError(f"line {rest[0][0] if rest else 1} belongs to nothing")
    return value


def _block(lines: list[tuple[int, int, str]], indent: int) -> tuple[Any, list[tuple[int, int, str]]]:
    is_list = lines[0][2].startswith("- ")
    found: Any = [] if is_list else {}
    while lines and lines[0][1] == indent and lines[0][2].startswith("- ") == is_list:
        number, _, line = lines[0]
        if is_list:
            # What follows "- " is another block, two columns further to the right.
            lines = [(number, indent + 2, line[2:]), *lines[1:]]
            if re.match(r"[^\s\"]+:( |$)", line[2:]):
                value, lines = _block(lines, indent + 2)
            else:
                value, lines = _scalar(number, line[2:]), lines[1:]
            found.append(value)
            continue
        key, separator, value = line.partition(":")
        if not separator or not re.fullmatch(r"[\w./-]+", key) or key in found:
            raise ValueError(f"line {number}: {line!r} is no key, or one that was there before")
        lines = lines[1:]
        if value:
            found[key] = _scalar(number, value.removeprefix(" "))
        elif lines and lines[0][1] > indent:
            found[key], lines = _block(lines, lines[0][1])
        else:
            raise ValueError(f"line {number}: {key!r} has no value")
    if lines and lines[0][1] > indent:
        raise ValueError(f"line {lines[0][0]} is indented too far")
    return found, lines


def _scalar(number: int, text: str) -> Any:
    if re.fullmatch(r'"[^"\\]*"|-?\d+|true|false', text):
        return json.loads(text)
    # A plain word: nothing that YAML reads as something else (yes, null, 1e3, 12:30:00, flow, anchors, tags).
    if not re.fullmatch(r"[A-Za-z/-][\w./-]*(:\d+)?", text) or text.lower() in ("yes", "no", "on", "off", "null"):
        raise ValueError(f"line {number}: {text!r} must be quoted")
    return text
