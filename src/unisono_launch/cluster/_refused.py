"""Resolvers of TensorFlow that ask a cloud's API. Making one raises an error that names the alternative."""

from __future__ import annotations

from typing import Any, NoReturn

from unisono_launch.cluster._resolver import ClusterResolver
from unisono_launch.cluster._spec import ClusterSpec


class GCEClusterResolver(ClusterResolver):
    """Not supported. Compute Engine is not asked for the machines of an instance group; list them in TF_CONFIG."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        _refuse("GCEClusterResolver", "Compute Engine's API which machines there are")

    def cluster_spec(self) -> ClusterSpec:
        raise NotImplementedError


class SageMakerClusterResolver(ClusterResolver):
    """Not supported. SageMaker is not asked for the machines of a training job; list them in TF_CONFIG."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        del args, kwargs
        _refuse("SageMakerClusterResolver", "SageMaker which machines there are")

    def cluster_spec(self) -> ClusterSpec:
        raise NotImplementedError


def _refuse(name: str, asks: str) -> NoReturn:
    raise NotImplementedError(
        f"{name} is not supported: Unisono does not ask {asks}; list them in TF_CONFIG, or pass "
        "SimpleClusterResolver(ClusterSpec({'worker': ['host1:2222', …]}), task_type='worker', task_id=0)."
    )
