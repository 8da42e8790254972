"""The manifests that `unisono run --on kubernetes` prints, and those of examples/cluster."""

import re
import shlex
from pathlib import Path

import pytest

from unisono_launch.cluster import num_requeues
from unisono_launch.engines import run
from unisono_launch.engines.kubernetes._arguments import parse
from unisono_launch.engines.kubernetes._job_set import make_job_set
from unisono_launch.engines.kubernetes._train_job import make_train_job
from unisono_launch.launch import PREEMPTED
from unisono_launch.launch._arguments import parse as parse_run
from unisono_launch.launch._machines import find_machines

FOLDER = Path(__file__).parents[3] / "examples" / "cluster"
JOB = ["--image", "trainer:1", "-N", "2", "--gpus-per-node", "8", "--name", "mnist", "--volume-claim", "runs"]


@pytest.mark.parametrize("name", ["jobset.yaml", "trainjob.yaml"])
def test_an_example_is_what_its_command_prints(name, capsys):
    text = (FOLDER / name).read_text()
    command = re.search(r"# Printed by: +(unisono run (?:.|\n# )*--dry-run train\.py)", text)
    words = shlex.split(command[1].replace("\n#", ""))
    assert run(words[2:]) == 0
    printed = capsys.readouterr()
    lines = [re.sub(r"(^|\s+)#.*", "", line) for line in text.splitlines()]
    assert "".join(f"{line}\n" for line in lines if line) == printed.out
    assert printed.err == ""


def test_the_pods_of_a_jobset_find_each_other(tmp_path, monkeypatch):
    (replicated,) = make_job_set(parse([*JOB, "--kind", "jobset", "train.py"]))["spec"]["replicatedJobs"]
    job = replicated["template"]["spec"]
    (container,) = job["template"]["spec"]["containers"]
    environ = {variable["name"]: variable.get("value", "3") for variable in container["env"]}
    assert num_requeues(environ) == 3
    environ |= {"JOB_COMPLETION_INDEX": "1", "HOSTNAME": f"mnist-{replicated['name']}-0-1"}
    options = parse_in_pod(container["command"], tmp_path, monkeypatch)
    machines = find_machines(options, environ)
    assert machines.hosts == ("mnist-workers-0-0.mnist", "mnist-workers-0-1.mnist")
    assert machines.rank == 1
    assert machines.master_port == container["ports"][0]["containerPort"]
    assert job["completions"] == job["parallelism"] == len(machines.hosts)
    assert options.grace < job["template"]["spec"]["terminationGracePeriodSeconds"]
    assert options.run_dir == "/runs/mnist"


@pytest.mark.parametrize("kind", ["jobset", "trainjob"])
def test_kubernetes_expands_nothing_that_is_meant_for_the_script(kind, capsys):
    words = [*JOB, "--kind", kind, "--env", "PATTERN=$(HOME)", "--run-dir", "/runs/$(a)", "train.py", "$(HOSTNAME) $$"]
    assert run(["--on", "kubernetes", "--dry-run", *words]) == 0
    printed = capsys.readouterr().out
    for escaped in ("$$(HOME)", "/runs/$$(a)", "$$(HOSTNAME) $$$$"):
        assert escaped in printed
    assert not re.search(r"(?<!\$)(\$\$)*\$\(", printed)


def test_the_pods_of_a_trainjob_find_each_other(tmp_path, monkeypatch):
    _, job = make_train_job(parse([*JOB, "train.py"]))
    # What the policy "jax" of Kubeflow Trainer 2.3 sets in pod 1 (pkg/runtime/framework/plugins/jax/jax.go).
    environ = {
        "JAX_COORDINATOR_ADDRESS": "mnist-node-0-0.mnist:29500",
        "JAX_NUM_PROCESSES": str(job["spec"]["trainer"]["numNodes"]),
        "JAX_PROCESS_ID": "1",
        "JOB_COMPLETION_INDEX": "1",
        "HOSTNAME": "mnist-node-0-1",
    }
    options = parse_in_pod(job["spec"]["trainer"]["command"], tmp_path, monkeypatch)
    machines = find_machines(options, environ)
    assert (machines.rank, len(machines.hosts), machines.master_port) == (1, 2, 29500)
    assert machines.master_address == "mnist-node-0-0.mnist"


def parse_in_pod(command, tmp_path, monkeypatch):
    assert command[:2] == ["unisono", "run"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").touch()
    return parse_run(command[2:])


@pytest.mark.parametrize("kind", ["trainjob", "jobset"])
def test_preemption_and_eviction_use_up_no_restart(kind):
    options = parse([*JOB, "--kind", kind, "--max-restarts", "5", "train.py"])
    if kind == "trainjob":
        runtime, train_job = make_train_job(options)
        assert train_job["spec"]["runtimeRef"] == {
            "apiGroup": "trainer.kubeflow.org", "kind": runtime["kind"], "name": runtime["metadata"]["name"],
        }  # fmt: skip
        spec = runtime["spec"]["template"]["spec"]
    else:
        spec = make_job_set(options)["spec"]
    (rule,) = spec["failurePolicy"]["rules"]
    assert spec["failurePolicy"]["maxRestarts"] == 5
    assert rule["action"] == "RestartJobSetAndIgnoreMaxRestarts"
    assert rule["onJobFailureReasons"] == ["PodFailurePolicy"]
    job = spec["replicatedJobs"][0]["template"]["spec"]
    (container,) = job["template"]["spec"]["containers"]
    saved, evicted = job["podFailurePolicy"]["rules"]
    assert saved["onExitCodes"] == {"containerName": container["name"], "operator": "In", "values": [PREEMPTED]}
    assert evicted["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
    assert {saved["action"], evicted["action"]} == {"FailJob"}
    # The API refuses a podFailurePolicy otherwise. One failed pod ends the Job, and the JobSet starts all again.
    assert job["template"]["spec"]["restartPolicy"] == "Never"
    assert job["backoffLimit"] == 0


def test_a_trainjob_of_a_runtime_of_the_cluster_patches_what_it_may(capsys):
    arguments = [*JOB, "--runtime", "jax-distributed", "train.py"]
    (job,) = make_train_job(parse(arguments))
    assert job["spec"]["runtimeRef"] == {"name": "jax-distributed"}
    (patch,) = job["spec"]["runtimePatches"]
    (replicated,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    pod = replicated["template"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 120
    assert [mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]] == ["/runs", "/dev/shm"]
    assert run(["--on", "kubernetes", "--dry-run", *arguments]) == 0
    assert "a preemption (exit code 75) counts as a failure" in capsys.readouterr().err


def test_options_for_the_launcher_and_variables_reach_the_pods():
    flags = ["-n", "gpu", "--devices", "gpu:0,1", "--sharded", "--as-tensorflow", "--grace", "25"]
    options = parse([*JOB, *flags, "--env", "A=b=c", "--env", "B=", "-m", "package.train", "--lr", "1"])
    _, job = make_train_job(options)
    assert job["spec"]["trainer"]["env"][1:] == [{"name": "A", "value": "b=c"}, {"name": "B", "value": ""}]
    start = ["unisono", "run", "--run-dir", "/runs/mnist", "--grace", "25", "-n", "gpu", "--devices", "gpu:0,1"]
    program = ["--sharded", "--as-tensorflow", "-m", "package.train", "--lr", "1"]
    assert job["spec"]["trainer"]["command"] == start + program


def test_a_job_without_gpus_and_volume_has_neither(capsys):
    arguments = ["--image", "trainer:1", "--name", "mnist", "--namespace", "research", "--kind", "jobset", "train.py"]
    manifest = make_job_set(parse(arguments))
    assert manifest["metadata"] == {"name": "mnist", "namespace": "research"}
    pod = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert not {"resources", "volumeMounts"} & set(container)
    assert "volumes" not in pod
    assert container["command"][2:4] == ["--name", "mnist"]
    assert run(["--on", "kubernetes", "--dry-run", *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n")
    assert "the run folder is inside the pods and is lost with them" in printed.err


def test_another_folder_of_the_volume_and_of_the_run():
    claim = make_job_set(parse(["--image", "i", "--name", "a", "--volume-claim", "c:/mnt/x", "train.py"]))
    assert claim["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["command"][
        2:4
    ] == [
        "--run-dir",
        "/mnt/x/a",
    ]
    assert parse([*JOB, "--run-dir", "/elsewhere", "train.py"]).run_folder_flags == ("--run-dir", "/elsewhere")
