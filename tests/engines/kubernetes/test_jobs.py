"""Jobs under real controllers: Kubernetes's of Job, JobSet's, and Kubeflow Trainer's, with pods as local processes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="PyYAML is not installed")

from tests.engines.kubernetes.control_plane import find_obstacle, kubectl, start_control_plane, wait_for
from unisono_launch.engines.kubernetes._submit import _NO_SUCH_KIND

OBSTACLE = find_obstacle()

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(OBSTACLE is not None, reason=OBSTACLE or ""),
    pytest.mark.timeout(400),
]

SCRIPT = Path(__file__).parent / "train.py"

RUNTIME = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: jax-distributed}
spec:
  mlPolicy: {numNodes: 1, jax: {}}
  template:
    spec:
      replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {spec: {containers: [{name: node, image: other}]}}}
"""


class Cluster:
    """A control plane, and the folder of its pods."""

    def __init__(self, folder: Path, environ: Mapping[str, str], weights: str) -> None:
        self.folder = folder
        self.environ = environ
        self.weights = weights
        """Of an undisturbed job on this machine."""

    def kubectl(self, *arguments: str, **more: str) -> str:
        return kubectl(self.environ, *arguments, **more)

    def num_restarts(self, name: str) -> tuple[int, int]:
        """How often the JobSet was restarted, and how often that counted."""
        status = json.loads(self.kubectl("get", "jobset", name, "-o", "json"))["status"]
        return status.get("restarts", 0), status.get("restartsCountTowardsMax", 0)

    def evict(self, pod: str) -> None:
        """Asks for the eviction of a pod, as `kubectl drain` does."""
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": "default"}}
        path = f"/api/v1/namespaces/default/pods/{pod}/eviction"
        self.kubectl("create", "--raw", path, "-f", "-", standard_input=json.dumps(eviction))

    def pod(self, name: str, index: int) -> str:
        return re.search(rf"{name}-\w+-0-{index}-\w+", self.kubectl("get", "pods", "-o", "name"))[0]

    @contextmanager
    def run(self, name: str, *arguments: str) -> Iterator[Job]:
        """`unisono run --on kubernetes`, in its own process."""
        flags = ["--image", "trainer:1", "-N", "2", "--name", name, "--devices", "cpu:1"]
        volume = ["--volume-claim", f"runs:{self.folder / 'runs'}"]
        command = [sys.executable, "-m", "unisono_launch", "run", "--on", "kubernetes", *flags, *volume, *arguments]
        output = self.folder / f"output-{name}"
        with output.open("wb") as file:
            process = subprocess.Popen(command, env=self.environ, stdout=file, stderr=file)
        try:
            yield Job(process, output.read_text)
        finally:
            process.kill()
            process.wait()
            kinds = "trainjobs,trainingruntimes,jobsets"
            self.kubectl("delete", kinds, "--all", "--wait=false", "--cascade=background")


class Job:
    """A running command."""

    def __init__(self, process: subprocess.Popen[bytes], read: Callable[[], str]) -> None:
        self._process = process
        self.read = read

    def wait_for(self, text: str) -> None:
        wait_for(lambda: text in self.read() or self._process.poll() is not None, repr(text))
        assert text in self.read()

    def wait(self) -> int:
        return self._process.wait(300)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("kubernetes")
    (folder / "image").mkdir()
    (folder / "runs").mkdir()
    shutil.copy(SCRIPT, folder / "image" / "train.py")
    names = [f"{job}-{kind}-0-{i}.{job}" for job in NAMES for kind in ("node", "workers") for i in range(2)]
    (folder / "hosts").write_text(f"127.0.0.1 localhost {' '.join(names)}\n")
    with start_control_plane(folder) as environ:
        alone = [sys.executable, "-m", "unisono_launch", "run", "-n", "2", "--devices", "cpu:1", "train.py", "0", "no"]
        result = subprocess.run(alone, cwd=folder / "image", capture_output=True, text=True, timeout=300)
        assert result.returncode == 0, result.stderr
        yield Cluster(folder, environ, re.search(r"2 replicas, weights \w+", result.stdout)[0])


NAMES = ("evicted-trainjob", "evicted-jobset", "deaf", "killed", "failed", "stock")


def test_kubectl_says_in_known_words_that_a_controller_is_not_installed(cluster):
    command = ["kubectl", "get", "nosuchkind/name", "--ignore-not-found", "-o", "name"]
    result = subprocess.run(command, env=cluster.environ, capture_output=True, text=True, timeout=60)
    assert result.returncode != 0
    assert _NO_SUCH_KIND in result.stderr


@pytest.mark.parametrize("kind", ["trainjob", "jobset"])
def test_an_evicted_pod_saves_and_uses_up_no_restart(cluster, kind, record_scenario):
    name = f"evicted-{kind}"
    with cluster.run(name, "--kind", kind, "--max-restarts", "0", "train.py", "0.1", "no") as job:
        job.wait_for("step 20\n")
        cluster.evict(cluster.pod(name, 1))
        assert job.wait() == 0, job.read()
        assert "exiting for a restart" in job.read()
        assert cluster.weights in job.read()
        assert cluster.num_restarts(name) == (1, 0)
    attempts = sorted(path.name for path in (cluster.folder / "runs" / name / "logs").iterdir())
    assert attempts == ["attempt-0", "attempt-1"]
    record_scenario(
        engine="Kubernetes", scenario=f"{kind}: a pod is evicted", result="saved, no restart used up, bit-equal"
    )


def test_an_evicted_pod_that_does_not_save_uses_up_no_restart(cluster, record_scenario):
    flags = ["--kind", "jobset", "--max-restarts", "0", "--grace", "1"]
    with cluster.run("deaf", *flags, "train.py", "0.1", "deaf") as job:
        job.wait_for("step 20\n")
        cluster.evict(cluster.pod("deaf", 1))
        assert job.wait() == 0, job.read()
        assert cluster.weights in job.read()
        assert cluster.num_restarts("deaf") == (1, 0)
    record_scenario(
        engine="Kubernetes",
        scenario="jobset: a pod is evicted and killed before it has saved",
        result="no restart used up, bit-equal",
    )


def test_a_killed_worker_uses_up_a_restart(cluster, record_scenario):
    with cluster.run("killed", "--max-restarts", "1", "train.py", "0.05", "kill") as job:
        assert job.wait() == 0, job.read()
        assert cluster.weights in job.read()
        assert cluster.num_restarts("killed") == (1, 1)
    record_scenario(
        engine="Kubernetes", scenario="trainjob: a worker is killed with SIGKILL", result="restarted, bit-equal"
    )


def test_an_error_of_the_script_is_the_exit_code(cluster, record_scenario):
    with cluster.run("failed", "--max-restarts", "0", "train.py", "0", "raise") as job:
        assert job.wait() == 1, job.read()
        assert re.search(r"The first pod that failed, with exit code 1: kubectl logs failed-node-0-1-\w+", job.read())
        assert "a mistake of the script" in cluster.kubectl("logs", cluster.pod("failed", 1))
    record_scenario(
        engine="Kubernetes", scenario="trainjob: the script raises an error", result="exit code 1, the pod is named"
    )


def test_a_trainjob_of_a_runtime_of_the_cluster_trains(cluster, record_scenario):
    cluster.kubectl("apply", "-f", "-", standard_input=RUNTIME)
    with cluster.run("stock", "--runtime", "jax-distributed", "train.py", "0", "no") as job:
        assert job.wait() == 0, job.read()
        assert cluster.weights in job.read()
    record_scenario(engine="Kubernetes", scenario="trainjob of the runtime jax-distributed", result="bit-equal")
