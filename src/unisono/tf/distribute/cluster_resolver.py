"""`tf.distribute.cluster_resolver`: who takes part in a training."""

# ruff: noqa: F401  (names that the module re-exports)

from unisono._src.strategy._tpu_cluster_resolver import TPUClusterResolver
from unisono.tf._missing import missing_in as _missing_in
from unisono_launch.cluster import (
    ClusterResolver,
    GCEClusterResolver,
    KubernetesClusterResolver,
    KubernetesExecutableLocation,
    SageMakerClusterResolver,
    SimpleClusterResolver,
    SlurmClusterResolver,
    TFConfigClusterResolver,
    UnionResolver,
)

__getattr__ = _missing_in("tf.distribute.cluster_resolver")
