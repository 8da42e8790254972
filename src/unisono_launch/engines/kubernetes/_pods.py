"""What the pods of a TrainJob and of a JobSet have in common: command, volumes, and which failures use up a restart."""

from __future__ import annotations

from typing import Any, Final

from unisono_launch.cluster import RESTARTS
from unisono_launch.engines.kubernetes._options import KubernetesOptions
from unisono_launch.launch import PREEMPTED

# Between the end of --grace, when the launcher kills its workers, and the kill of the pod: the launcher reports.
_SECONDS_TO_REPORT: Final = 20


def make_command(options: KubernetesOptions) -> list[str]:
    """The command of each pod. Restarts are left to the engine, which starts all pods again together."""
    flags = [*options.run_folder_flags, "--grace", str(options.grace), *options.launcher_flags]
    return ["unisono", "run", *map(_escape, (*flags, *options.program))]


def make_variables(options: KubernetesOptions, **own: str) -> list[dict[str, Any]]:
    """The variables of a container. JobSet labels pods with the number of its restarts: attempts are counted on."""
    variables: list[dict[str, Any]] = [
        {"name": name, "value": _escape(value)} for name, value in {**own, **options.variables}.items()
    ]
    label = {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}}
    return [{"name": RESTARTS, "valueFrom": label}, *variables]


def _escape(text: str) -> str:
    """The text for Kubernetes, which replaces `$(NAME)` in commands and variables, and `$$` by `$`."""
    return text.replace("$", "$$")


def make_resources(options: KubernetesOptions) -> dict[str, Any]:
    """The resources of a container: GPUs, if there are any."""
    return {"limits": {"nvidia.com/gpu": options.gpus_per_node}} if options.gpus_per_node else {}


def make_volumes(options: KubernetesOptions) -> dict[str, Any]:
    """The field `volumes` of a pod, if there are volumes."""
    volumes: list[dict[str, Any]] = []
    if options.claim is not None:
        volumes.append({"name": "runs", "persistentVolumeClaim": {"claimName": options.claim}})
    if options.gpus_per_node:  # for NCCL; the default of 64 MB is too small
        volumes.append({"name": "shared-memory", "emptyDir": {"medium": "Memory"}})
    return {"volumes": volumes} if volumes else {}


def make_volume_mounts(options: KubernetesOptions) -> dict[str, Any]:
    """The field `volumeMounts` of a container, if there are volumes."""
    mounts = [{"name": "runs", "mountPath": options.mount}] if options.claim is not None else []
    mounts += [{"name": "shared-memory", "mountPath": "/dev/shm"}] if options.gpus_per_node else []
    return {"volumeMounts": mounts} if mounts else {}


def make_grace_period(options: KubernetesOptions) -> dict[str, int]:
    """The time from SIGTERM to SIGKILL: longer than the launcher's, so that it can report."""
    return {"terminationGracePeriodSeconds": options.grace + _SECONDS_TO_REPORT}


def make_failure_policy(options: KubernetesOptions) -> dict[str, Any]:
    """Of the JobSet: all pods start again together, since a launcher by itself would count fewer attempts than its
    peers. A Job that :func:`make_pod_failure_policy` has ended was preempted, which uses up no restart."""
    return {
        "maxRestarts": options.restarts,
        "rules": [
            {
                "name": "preempted",
                "action": "RestartJobSetAndIgnoreMaxRestarts",
                "onJobFailureReasons": ["PodFailurePolicy"],
            }
        ],
    }


def make_pod_failure_policy(container: str) -> dict[str, Any]:
    """Of the Job: ends it for a reason of its own if a pod has saved its state (code 75), or was evicted.

    `DisruptionTarget` is what Kubernetes notes on a pod that it ends itself: drained or lost node, preemption by a pod
    of higher priority. Not the action Ignore, which would start this pod again by itself.
    """
    return {
        "rules": [
            {
                "action": "FailJob",
                "onExitCodes": {"containerName": container, "operator": "In", "values": [PREEMPTED]},
            },
            {"action": "FailJob", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        ]
    }


def make_metadata(options: KubernetesOptions, **more: Any) -> dict[str, Any]:
    """The metadata of an object of the job."""
    namespace = {} if options.namespace is None else {"namespace": options.namespace}
    return {"name": options.name, **namespace, **more}
