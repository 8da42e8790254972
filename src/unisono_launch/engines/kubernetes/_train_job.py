"""A TrainJob of Kubeflow Trainer, and the TrainingRuntime that holds what a TrainJob cannot say.

A TrainJob names the image, the command, the number of pods and their resources, and can patch volumes and the grace
period. How often it is restarted, and which failures count, is said by its runtime alone. The runtime `jax-distributed`
that Kubeflow installs says nothing about it: each pod is restarted in place, up to six times in all (the default of a
Job), and code 75 counts. So a job gets a runtime of its own, in its namespace, unless `--runtime` names another.
"""

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

_API: Final = "trainer.kubeflow.org/v1alpha1"
_CONTAINER: Final = "node"  # Trainer finds the container by this name


def make_train_job(options: KubernetesOptions) -> list[dict[str, Any]]:
    """The manifests. With the policy `jax`, Trainer sets `JAX_COORDINATOR_ADDRESS` and so on in the pods."""
    resources = make_resources(options)
    spec: dict[str, Any] = {
        "runtimeRef": _make_reference(options),
        "trainer": {
            "image": options.image,
            "command": make_command(options),
            "env": make_variables(options),
            "numNodes": options.num_nodes,
            **({"resourcesPerNode": resources} if resources else {}),
        },
    }
    if options.runtime is not None:
        spec["runtimePatches"] = [_make_patch(options)]
    job = {"apiVersion": _API, "kind": "TrainJob", "metadata": make_metadata(options), "spec": spec}
    return [job] if options.runtime is not None else [_make_runtime(options), job]


def _make_reference(options: KubernetesOptions) -> dict[str, str]:
    if options.runtime is not None:
        return {"name": options.runtime}  # the kind is ClusterTrainingRuntime by default
    return {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": options.name}


def _make_runtime(options: KubernetesOptions) -> dict[str, Any]:
    job = {
        "backoffLimit": 0,
        "podFailurePolicy": make_pod_failure_policy(_CONTAINER),
        "template": {"spec": {"restartPolicy": "Never", **_make_pod(options)}},
    }
    return {
        "apiVersion": _API,
        "kind": "TrainingRuntime",
        "metadata": make_metadata(options, labels={"trainer.kubeflow.org/framework": "jax"}),
        "spec": {
            "mlPolicy": {"numNodes": options.num_nodes, "jax": {}},
            "template": {
                "spec": {
                    "failurePolicy": make_failure_policy(options),
                    "replicatedJobs": [
                        {
                            "name": options.job,
                            "replicas": 1,
                            "template": {
                                "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                                "spec": job,
                            },
                        }
                    ],
                }
            },
        },
    }


def _make_patch(options: KubernetesOptions) -> dict[str, Any]:
    job = {"name": options.job, "template": {"spec": {"template": {"spec": _make_pod(options)}}}}
    return {
        "manager": "unisono/run",  # a name with a slash: Trainer requires one
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [job]}}},
    }


def _make_pod(options: KubernetesOptions) -> dict[str, Any]:
    return {
        **make_grace_period(options),
        "containers": [{"name": _CONTAINER, **make_volume_mounts(options)}],
        **make_volumes(options),
    }
