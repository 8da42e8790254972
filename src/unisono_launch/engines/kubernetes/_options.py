"""The options of `unisono run --on kubernetes`, checked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from unisono_launch.launch import UsageError

# The names of labels in DNS (RFC 1035), which pods, and the jobs that they are named after, must have.
_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MOUNT: Final = re.compile(r"/[^:\s]*[^:\s/]")

_SET_BY_US: Final = {
    "UNISONO_NUM_NODES": "-N",
    "UNISONO_RESTARTS": "what has happened",
    "UNISONO_SUBDOMAIN": "--name",
    "JAX_NUM_PROCESSES": "-N",
    "JAX_PROCESS_ID": "-N",
    "JAX_COORDINATOR_ADDRESS": "--name",
}


@dataclass(frozen=True, kw_only=True)
class KubernetesOptions:
    """The flags of `unisono run --on kubernetes`, and the program that runs in each pod.

    >>> KubernetesOptions(program=("train.py",), image="trainer:1", name="mnist").run_folder_flags
    ('--name', 'mnist')
    """

    program: tuple[str, ...]
    image: str
    name: str
    """Of the TrainJob or JobSet, and of the folder of the run."""
    kind: Literal["trainjob", "jobset"] = "trainjob"
    num_nodes: int = 1
    """Pods, with one launcher each."""
    gpus_per_node: int = 0
    namespace: str | None = None
    """None: that of kubectl's context."""
    max_restarts: int | None = None
    """None: 0, or what the runtime says if one is named."""
    volume_claim: str | None = None
    """CLAIM or CLAIM:MOUNT, with the folder of the run."""
    runtime: str | None = None
    """A ClusterTrainingRuntime of the cluster; None: one that belongs to this job."""
    env: tuple[str, ...] = ()
    grace: int = 100
    run_dir: str | None = None
    launcher_flags: tuple[str, ...] = ()
    """Passed to `unisono run` in each pod as they are."""
    dry_run: bool = False

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_names()
        self._check_runtime()
        for assignment in self.env:
            _check_assignment(assignment)

    @property
    def restarts(self) -> int:
        """How often all pods are started again after a failure."""
        return self.max_restarts or 0

    @property
    def job(self) -> str:
        """The name of the replicated job. Kubeflow Trainer requires the one for a TrainJob."""
        return "node" if self.kind == "trainjob" else "workers"

    @property
    def claim(self) -> str | None:
        """The PersistentVolumeClaim that all pods write to."""
        return None if self.volume_claim is None else self.volume_claim.partition(":")[0]

    @property
    def mount(self) -> str:
        """Where the claim is in the pods."""
        return (self.volume_claim or "").partition(":")[2] or "/runs"

    @property
    def run_folder_flags(self) -> tuple[str, str]:
        """The flags of `unisono run` that name the folder of the run: on all pods, and after a restart, the same."""
        if self.run_dir is not None:
            return "--run-dir", self.run_dir
        if self.claim is not None:
            return "--run-dir", f"{self.mount}/{self.name}"
        return "--name", self.name

    @property
    def variables(self) -> dict[str, str]:
        """What `--env` sets."""
        return {name: value for name, _, value in (assignment.partition("=") for assignment in self.env)}

    def _check_numbers(self) -> None:
        if self.num_nodes < 1:
            raise UsageError(f"-N {self.num_nodes} is less than one pod. Give at least 1, as in -N 2.")
        if self.gpus_per_node < 0:
            raise UsageError(f"--gpus-per-node {self.gpus_per_node} is negative. Give 0 or more.")
        if self.restarts < 0:
            raise UsageError(f"--max-restarts {self.max_restarts} is negative. Give 0 or more.")
        if self.grace < 0:
            raise UsageError(f"--grace {self.grace} is negative. Give a number of seconds, as in --grace 100.")

    def _check_names(self) -> None:
        # A pod is named <name>-<job>-0-<index>-<five letters>, and the whole is a label.
        most = 63 - len(f"-{self.job}-0-{self.num_nodes - 1}-abcde")
        if not _LABEL.fullmatch(self.name) or len(self.name) > most:
            raise UsageError(
                f"--name {self.name!r} is not a name for {self.num_nodes} pods. Give at most {most} lower-case "
                "letters, digits and hyphens, with a letter first and no hyphen last, as in --name mnist."
            )
        if self.namespace is not None and not (_LABEL.fullmatch(self.namespace) and len(self.namespace) <= 63):
            raise UsageError(f"--namespace {self.namespace!r} is not a namespace, such as --namespace research.")
        if not self.image or re.search(r"\s", self.image):
            raise UsageError(f"--image {self.image!r} is not an image, such as --image registry.example.com/trainer:1.")
        if self.volume_claim is not None:
            claim, colon, mount = self.volume_claim.partition(":")
            if not _is_object_name(claim) or (colon and not _MOUNT.fullmatch(mount)):
                raise UsageError(
                    f"--volume-claim {self.volume_claim!r} is not a PersistentVolumeClaim, or one with a folder. Give "
                    "one, as in --volume-claim runs or --volume-claim runs:/mnt/runs."
                )

    def _check_runtime(self) -> None:
        if self.runtime is None:
            return
        if self.kind == "jobset":
            raise UsageError(
                "--runtime is for a TrainJob; a JobSet has no runtime. Leave out --runtime or --kind jobset."
            )
        if not _is_object_name(self.runtime):
            raise UsageError(f"--runtime {self.runtime!r} is not a name, such as --runtime jax-distributed.")
        if self.max_restarts is not None:
            raise UsageError(
                f"--max-restarts {self.max_restarts} with --runtime {self.runtime}: a TrainJob cannot say how often it "
                "is restarted, its runtime does. Leave out --runtime, and the job gets a runtime of its own; or leave "
                "out --max-restarts."
            )


def _is_object_name(text: str) -> bool:
    return bool(_SUBDOMAIN.fullmatch(text)) and len(text) <= 253


def _check_assignment(assignment: str) -> None:
    name, equals, _ = assignment.partition("=")
    if not equals or not _VARIABLE.fullmatch(name):
        raise UsageError(f"--env {assignment!r} is not NAME=VALUE. Write it so, as in --env NCCL_DEBUG=INFO.")
    if name in _SET_BY_US:
        raise UsageError(f"--env {name}: this variable follows from {_SET_BY_US[name]}. Leave it out.")
