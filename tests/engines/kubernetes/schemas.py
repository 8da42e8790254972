"""Checks manifests with the published schemas: Kubeflow's of TrainJob and JobSet, Kubernetes's of the rest."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
from kubeflow_trainer_api.models.jobset_v1alpha2_job_set import JobsetV1alpha2JobSet
from kubeflow_trainer_api.models.trainer_v1alpha1_train_job import TrainerV1alpha1TrainJob
from kubeflow_trainer_api.models.trainer_v1alpha1_training_runtime import TrainerV1alpha1TrainingRuntime
from pydantic import BaseModel

MODELS: dict[tuple[str, str], type[BaseModel]] = {
    ("jobset.x-k8s.io/v1alpha2", "JobSet"): JobsetV1alpha2JobSet,
    ("trainer.kubeflow.org/v1alpha1", "TrainJob"): TrainerV1alpha1TrainJob,
    ("trainer.kubeflow.org/v1alpha1", "TrainingRuntime"): TrainerV1alpha1TrainingRuntime,
}

VERSIONS = ("1.31", "1.34", kubernetes_validate.latest_version())


def check(manifest: dict[str, Any]) -> None:
    """Raises an error if the manifest has a field that its schema does not know, or a value of another type."""
    model = MODELS[manifest["apiVersion"], manifest["kind"]]
    unknown = list(_find_unknown_fields(model, manifest, manifest["kind"]))
    if unknown:
        raise ValueError(f"Unknown fields: {unknown}")
    model.from_dict(manifest)  # pydantic checks the types, and ignores what it does not know
    for job in _find_jobs(manifest):
        check_builtin({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": job})


def check_builtin(manifest: dict[str, Any]) -> None:
    """The same for a kind of Kubernetes itself, in several versions."""
    for version in VERSIONS:
        kubernetes_validate.validate(manifest, version, strict=True)


def _find_jobs(manifest: dict[str, Any]) -> list[Any]:
    spec = manifest["spec"]
    if manifest["kind"] == "TrainJob":
        return []
    job_set = spec if manifest["kind"] == "JobSet" else spec["template"]["spec"]
    return [replicated["template"]["spec"] for replicated in job_set["replicatedJobs"]]


def _find_unknown_fields(annotation: Any, value: Any, path: str) -> Iterator[str]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if not isinstance(value, dict):  # pydantic checks it; a quantity is a model and may be a number
            return
        fields = {field.alias or name: field.annotation for name, field in annotation.model_fields.items()}
        for key, item in value.items():
            if key in fields:
                yield from _find_unknown_fields(fields[key], item, f"{path}.{key}")
            else:
                yield f"{path}.{key}"
        return
    items = (
        value if isinstance(value, list) else list(value.values()) if typing.get_origin(annotation) is dict else [value]
    )
    for number, item in enumerate(items):
        for argument in typing.get_args(annotation):
            if typing.get_args(argument) or (isinstance(argument, type) and issubclass(argument, BaseModel)):
                where = f"{path}[{number}]" if isinstance(value, list) else path
                yield from _find_unknown_fields(argument, item, where)
