"""A JobSet with one indexed Job, whose pods the Kubernetes resolver finds by their names."""

from __future__ import annotations

from typing import Any, Final

from unisono_launch.engines.kubernetes._options import KubernetesOptions
from unisono_launch.engines.kubernetes._pods import (
    make_command,
    make_failure_policy,
    make_grace_period,
    make_metadata,
    make_pod_failure_policy,
    make_resources,
    make_variables,
    make_volume_mounts,
    make_volumes,
)

_CONTAINER: Final = "trainer"
_PORT: Final = 8470  # of worker 0, in KubernetesClusterResolver


def make_job_set(options: KubernetesOptions) -> dict[str, Any]:
    """The manifest. Its pods are named `<name>-workers-0-<index>.<name>`."""
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": make_metadata(options),
        "spec": {
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "failurePolicy": make_failure_policy(options),
            "replicatedJobs": [{"name": options.job, "replicas": 1, "template": {"spec": _make_job(options)}}],
        },
    }


def _make_job(options: KubernetesOptions) -> dict[str, Any]:
    resources = make_resources(options)
    container = {
        "name": _CONTAINER,
        "image": options.image,
        "command": make_command(options),
        "env": make_variables(options, UNISONO_NUM_NODES=str(options.num_nodes), UNISONO_SUBDOMAIN=options.name),
        "ports": [{"containerPort": _PORT}],
        **({"resources": resources} if resources else {}),
        **make_volume_mounts(options),
    }
    return {
        "completionMode": "Indexed",
        "completions": options.num_nodes,
        "parallelism": options.num_nodes,
        "backoffLimit": 0,
        "podFailurePolicy": make_pod_failure_policy(_CONTAINER),
        "template": {
            "spec": {
                "restartPolicy": "Never",
                **make_grace_period(options),
                "containers": [container],
                **make_volumes(options),
            }
        },
    }
