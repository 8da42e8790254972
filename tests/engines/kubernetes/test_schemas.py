"""The manifests of `unisono run --on kubernetes`, and the examples, against the published schemas."""

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
pytest.importorskip("kubeflow_trainer_api", reason="kubeflow-trainer-api is not installed")

import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.engines.kubernetes.schemas import check, check_builtin
from unisono_launch.engines import run
from unisono_launch.engines.kubernetes._yaml import dump

pytestmark = pytest.mark.engines

FOLDER = Path(__file__).parents[3] / "examples" / "cluster"

JOB = ["--image", "trainer:1", "-N", "2", "--name", "mnist"]
FULL = [*JOB, "--gpus-per-node", "8", "--volume-claim", "runs:/mnt/runs", "--namespace", "research", "--env", "A=yes"]
COMMANDS = {
    "TrainJob": JOB,
    "TrainJob with all options": [*FULL, "--max-restarts", "7"],
    "TrainJob of a runtime of the cluster": [*FULL, "--runtime", "jax-distributed"],
    "JobSet": [*JOB, "--kind", "jobset"],
    "JobSet with all options": [*FULL, "--kind", "jobset", "--max-restarts", "7"],
}


def print_manifests(arguments: list[str], capsys) -> str:
    assert run(["--on", "kubernetes", *arguments, "--dry-run", "train.py", "--message", "a: 'b' #c\n\u2028 yes"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("kind", COMMANDS)
def test_what_is_printed_is_valid(kind, capsys, record_scenario):
    for manifest in yaml.safe_load_all(print_manifests(COMMANDS[kind], capsys)):
        check(manifest)
    record_scenario(engine="Kubernetes", scenario=f"manifest of a {kind}", result="valid by the published schemas")


@pytest.mark.parametrize("name", ["jobset.yaml", "trainjob.yaml"])
def test_the_examples_are_valid(name):
    for manifest in yaml.safe_load_all((FOLDER / name).read_text()):
        check(manifest)


def test_the_pods_of_the_rayjob_are_valid():
    cluster = yaml.safe_load((FOLDER / "rayjob.yaml").read_text())["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    assert len(groups) == 2
    for group in groups:
        check_builtin(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": group["template"]["spec"]}
        )


def rename(value: Any, path: list[Any], new: str) -> None:
    """Renames the field at the end of the path."""
    for step in path[:-1]:
        value = value[step]
    value[new] = value.pop(path[-1])


POD = ["spec", "replicatedJobs", 0, "template", "spec", "template", "spec"]
PATCH = [
    "spec",
    "runtimePatches",
    0,
    "trainingRuntimeSpec",
    "template",
    "spec",
    "replicatedJobs",
    0,
    "template",
    "spec",
]


@pytest.mark.parametrize(
    ("kind", "path", "misspelt"),
    [
        ("JobSet with all options", ["spec", "failurePolicy", "maxRestarts"], "maxRestart"),
        ("JobSet with all options", [*POD, "terminationGracePeriodSeconds"], "terminationGracePeriod"),
        ("JobSet with all options", [*POD, "containers", 0, "volumeMounts"], "mounts"),
        ("JobSet with all options", [*POD, "volumes", 0, "persistentVolumeClaim", "claimName"], "claim"),
        ("TrainJob of a runtime of the cluster", ["spec", "trainer", "numNodes"], "num_nodes"),
        ("TrainJob of a runtime of the cluster", ["spec", "trainer", "resourcesPerNode"], "resources"),
        ("TrainJob of a runtime of the cluster", [*PATCH, "template", "spec", "volumes"], "volume"),
        ("TrainJob of a runtime of the cluster", [*PATCH, "template"], "podTemplate"),
    ],
)
def test_a_misspelt_field_is_found(kind, path, misspelt, capsys):
    (manifest,) = yaml.safe_load_all(print_manifests(COMMANDS[kind], capsys))
    wrong = copy.deepcopy(manifest)
    rename(wrong, path, misspelt)
    with pytest.raises(Exception, match=misspelt):
        check(wrong)


@pytest.mark.parametrize("key", ["podFailurePolicy", "backoffLimit"])
def test_a_misspelt_field_of_the_runtime_is_found(key, capsys):
    runtime, _ = yaml.safe_load_all(print_manifests(COMMANDS["TrainJob"], capsys))
    rename(runtime, ["spec", "template", "spec", "replicatedJobs", 0, "template", "spec", key], "misspelt")
    with pytest.raises(Exception, match="misspelt"):
        check(runtime)


@given(
    st.recursive(
        st.text() | st.integers() | st.booleans(),
        lambda values: st.lists(values) | st.dictionaries(st.text(), values),
        max_leaves=10,
    )
)
def test_a_parser_reads_what_was_written(value):
    assert yaml.safe_load(dump([{"value": value}])) == {"value": value}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
@pytest.mark.parametrize("kind", COMMANDS)
def test_kubectl_reads_what_was_written(kind, capsys, tmp_path):
    text = print_manifests(COMMANDS[kind], capsys)
    result = subprocess.run(
        ["kubectl", "annotate", "--local", "--filename", "-", "--output", "json", "read=by-kubectl"],
        env=os.environ | {"KUBECONFIG": str(tmp_path / "none")},
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    decoder, rest, documents = json.JSONDecoder(), result.stdout.strip(), []
    while rest:
        document, end = decoder.raw_decode(rest)
        assert document["metadata"].pop("annotations") == {"read": "by-kubectl"}
        documents.append(document)
        rest = rest[end:].strip()
    assert documents == list(yaml.safe_load_all(text))
